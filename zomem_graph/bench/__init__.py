"""Measurements anybody can repeat: `zomem bench …` prints one JSON document a suite.

Every suite is a module with a `run` that returns plain data and asks the package only through its front
door. Nothing here ships data: the folder with the evaluation set is an argument.
"""
