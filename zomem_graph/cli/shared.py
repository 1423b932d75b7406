"""The options that stand before or after any command word: --home, --persona and --json."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["HomeOption", "JsonOption", "PersonaOption", "Shared", "not_empty", "path_in"]

_PANEL = "Options of every command"


def not_empty(word: str) -> str:
    """Return what was given; a variable that is not set leaves nothing, which is a mistake and no choice."""
    if not word.strip():
        raise typer.BadParameter("it is empty. Give a value, or leave the option out.")
    return word


def path_in(word: str) -> Path:
    """Return the path an option gives; an empty one would be the current folder."""
    return Path(not_empty(str(word)))


HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        parser=path_in,
        help="Folder of the memory; else ZOMEM_HOME, else ~/.zomem.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
PersonaOption = Annotated[
    str | None,
    typer.Option(
        "--persona",
        metavar="NAME",
        parser=not_empty,
        help='Whose memory; else ZOMEM_PERSONA, else "shared".',
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.", rich_help_panel=_PANEL)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What was given of the three; what stands nearer to the end of the line wins."""

    home: Path | None = None
    persona: str | None = None
    as_json: bool = False

    def under(self, outer: object) -> "Shared":
        """Return these options with what the words before this one gave filled in."""
        if not isinstance(outer, Shared):
            return self
        return Shared(
            home=self.home if self.home is not None else outer.home,
            persona=self.persona if self.persona is not None else outer.persona,
            as_json=self.as_json or outer.as_json,
        )
