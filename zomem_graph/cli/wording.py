"""Our errors speak of arguments as Python has them; at the shell the same are options."""

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["at_the_shell"]

# What an option is called where it is not called like the argument.
_OTHERWISE = {"everything": "everything_of", "roots": "root", "token_budget": "budget"}
_GIVEN = re.compile(r"\b([a-z][a-z_]*)=(True\b|\[…\]|…|'[^']*'|(?=[\s,.;)]|$))")
_NAMED = re.compile(r"\b([a-z]+(?:_[a-z]+)+)(?= (?:must|has|is|names)\b)")
_DICT = re.compile(r"\ba dict\b")


def at_the_shell(message: str, parameters: Iterable[Any]) -> str:
    """Return a message with the options of a command in place of arguments: --allow-secret, not allow_secret=True.

    `parameters` are the command's, as Typer has them; what is no option of it stays as it is.
    """
    options = {
        name.removeprefix("--").replace("-", "_"): name
        for each in parameters
        for name in each.opts
        if name.startswith("--")
    }

    def option(name: str) -> str | None:
        return options.get(name) or options.get(_OTHERWISE.get(name, ""))

    def given(found: re.Match[str]) -> str:
        if (named := option(found[1])) is None:
            return found[0]
        return f"{named} {found[2][1:-1]}" if found[2].startswith("'") else named

    message = _GIVEN.sub(given, message)
    message = _NAMED.sub(lambda found: option(found[1]) or found[0], message)
    return _DICT.sub("a JSON object", message)
