"""Tasks that carry all they need: what a swarm is asked to do when no memory is wanted.

Written before anything was measured, and not changed after.
"""

__all__ = ["SELF_CONTAINED"]

SELF_CONTAINED = (
    "Translate 'the meeting is at noon' into French.",
    "Write a regular expression that matches ISO dates.",
    "Convert 72 degrees Fahrenheit to Celsius.",
    "Write a haiku about the first snow.",
    "Explain what a hash table is in two sentences.",
    "Sort these numbers: 42, 7, 19, 3, 88.",
    "Write a Python function that reverses a string.",
    "Give the SQL to count rows grouped by country in a table called users.",
    "What is the derivative of x squared times sin x?",
    "List five synonyms of 'quick'.",
    "Write a unit test for a function add(a, b).",
    "Rewrite in the passive voice: The cat chased the mouse.",
    "What does HTTP status 418 mean?",
    'Format this JSON with two spaces: {"a":1,"b":[2,3]}',
    "Write a Dockerfile for a small Flask application.",
    "Compute 17% of 2,350.",
    "Write a short thank-you note to a colleague who helped with a presentation.",
    "Name the planets of the solar system in order.",
    "Turn this into bullet points: apples are red, bananas are yellow, limes are green.",
    "Write a bash one-liner that deletes empty files below the current folder.",
    "Explain the difference between TCP and UDP to a child.",
    "Write a CSS rule that centres a div.",
    "Summarize: The quick brown fox jumps over the lazy dog. It then rests under a tree.",
    "Write a limerick about a programmer.",
    "Check the grammar: He don't know nothing about it.",
    "What is the capital of Mongolia?",
    "Write a function in JavaScript that debounces another function.",
    "Give three titles for an article on urban gardening.",
    "Count the words in: to be or not to be that is the question.",
    "Convert this list to a Markdown table: name, age; Al, 30; Bo, 25.",
    "Write a git command that shows the last three commits as one line each.",
    "Explain recursion with an example.",
    "Write an out-of-office reply for a week in August.",
    "What is 3 to the power of 9?",
    "Translate 'where is the library?' into Spanish.",
    "Generate a random-looking UUID.",
    "Write a Makefile target that runs pytest.",
    "Describe the water cycle in one paragraph.",
    "Write a cron expression for every weekday at 6 in the morning.",
    "Give the time complexity of binary search.",
)
