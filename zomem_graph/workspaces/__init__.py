"""Folders in which agents leave their work: one conversation a folder, files of words in it."""
