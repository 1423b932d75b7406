"""What a command works with: the shared options, a memory to open, a screen to answer on.

A command is a function whose first argument is the `Call`; `command` makes it a Typer app of its own,
`group` and `sub_command` make several of them one word.
"""

import inspect
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Concatenate, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from zomem_graph.cli.screen import Screen
from zomem_graph.cli.shared import HomeOption, JsonOption, PersonaOption, Shared
from zomem_graph.cli.wording import at_the_shell
from zomem_graph.cli.zone import machine_zone
from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, RetrieveOptions, WriteOptions
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.values import plain
from zomem_graph.settings import SETTINGS_FILE, Settings
from zomem_graph.stores.errors import ZomemError

__all__ = ["Call", "command", "group", "no_command", "sub_command"]

P = ParamSpec("P")
CommandFunction = Callable[Concatenate["Call", P], None]

# One call ends before a thread would pay, and reading the vectors from SQL is faster than loading Chroma.
_EXACT_BELOW = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the command line."""

    shared: Shared
    screen: Screen

    @contextmanager
    def memory(self, *, dry_run: bool = False, exact_below: int | None = None, **opening: Any) -> Iterator[Memory]:
        """Lend the memory of this call; what was written is embedded and indexed when the block ends.

        A dry run where there is no memory yet works on an empty one that is gone afterwards.
        """
        options = MemoryOptions(
            write=WriteOptions(background=False), retrieve=RetrieveOptions(exact_below=exact_below or _EXACT_BELOW)
        )
        with _trial(self.shared.home) if dry_run else nullcontext({"home": self.shared.home}) as where:
            with Memory.open(options=options, **where, **opening) as memory:
                yield memory

    def scope(self, memory: Memory, time_zone: str | None = None) -> Scope:
        """Return who asks: --persona, else the settings' persona; the machine's time zone unless given."""
        return Scope(persona=self.persona(memory), time_zone=time_zone or machine_zone())

    def persona(self, memory: Memory) -> str:
        """Return the persona of this call."""
        return self.shared.persona or memory.settings.persona or SHARED

    def answer(self, document: object, show: Callable[[Screen], None]) -> None:
        """Answer with JSON when that was asked for, else in words."""
        if self.shared.as_json:
            self.screen.document(plain(document))
        else:
            show(self.screen)

    def note_stranger(self, memory: Memory, scope: Scope) -> Scope:
        """Say on standard error when nobody knows who asks but somebody of much the same name; return the scope."""
        note = memory.personas.note(scope)
        self.notes([note] if note is not None else [])
        return scope

    def notes(self, lines: Sequence[str]) -> None:
        """Say on standard error what was missing while this was answered."""
        for line in lines:
            self.screen.note(f"note: {line}")


@contextmanager
def _trial(home: Path | None) -> Iterator[dict[str, Any]]:
    """Lend what `Memory.open` needs for the memory there is, else for an empty one with the same settings."""
    settings = Settings.load(home)
    if settings.database_url or settings.database_file.exists():
        yield {"home": home}
        return
    with TemporaryDirectory(prefix="zomem-") as folder:
        for file in settings.home.glob(SETTINGS_FILE):
            shutil.copy(file, folder)
        yield {"home": folder, "database_url": f"sqlite:///{folder}/zomem.db"}


def no_command(word: str, known: Iterable[str]) -> str:
    """Return what to say of a word that is no command, with those that were perhaps meant."""
    near = get_close_matches(word, known, n=3)
    return f"There is no command {word!r:.60}." + (f" Did you mean {' or '.join(near)}?" if near else "")


def command(function: CommandFunction[P]) -> typer.Typer:
    """Return a Typer app that is this one command."""
    app = typer.Typer(add_completion=False)
    app.command(function.__name__)(_for_typer(function))
    return app


def group(about: str, *, usage: str = "COMMAND [ARGS]...") -> typer.Typer:
    """Return an empty group of commands; the first one added runs when none of them is named."""
    app = typer.Typer(add_completion=False, cls=_WithDefault, help=about, subcommand_metavar=usage)

    @app.callback()
    def keep(
        context: typer.Context,
        home: HomeOption = None,
        persona: PersonaOption = None,
        as_json: JsonOption = False,
    ) -> None:
        context.obj = Shared(home=home, persona=persona, as_json=as_json).under(context.obj)

    return app


def sub_command(app: typer.Typer, name: str) -> Callable[[CommandFunction[P]], CommandFunction[P]]:
    """Add a function to a group under a name."""

    def add(function: CommandFunction[P]) -> CommandFunction[P]:
        app.command(name)(_for_typer(function))
        return function

    return add


def _for_typer(function: CommandFunction[P]) -> Callable[..., None]:
    """Return the function as Typer reads it: the shared options in place of its first argument."""

    def run(
        context: typer.Context,
        *,
        home: HomeOption = None,
        persona: PersonaOption = None,
        as_json: JsonOption = False,
        **own: Any,
    ) -> None:
        shared = Shared(home=home, persona=persona, as_json=as_json).under(context.obj)
        screen = Screen()
        try:
            with _warning_on(screen):
                function(Call(shared=shared, screen=screen), **own)  # type: ignore[call-arg]  # Typer passes what the signature says
        except ZomemError as error:
            error.args = (at_the_shell(str(error), context.command.params),)
            raise

    ours = [each for each in inspect.signature(run).parameters.values() if each.kind is not each.VAR_KEYWORD]
    theirs = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in (ours[0], *theirs, *ours[1:])]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # a function may have one
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__, run.__name__ = function.__doc__, function.__name__
    return run


@contextmanager
def _warning_on(screen: Screen) -> Iterator[None]:
    """Say a warning for users as a note, without the place in our code that a developer is shown."""
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if category is UserWarning:
                screen.note(f"note: {message}")
            else:
                before(message, category, *place, **more)

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


class _WithDefault(TyperGroup):
    """A group whose first command needs no name: `capture chat.md` beside `capture stats`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # Typer's own context
        word = self._first_word(args)
        if word is not None and word in self.commands and args[0] != word:
            # Options that stand before the word are the command's.
            place = args.index(word)
            args = [word, *args[:place], *args[place + 1 :]]
        if word is not None and word not in self.commands and not self._takes_words:
            ctx.fail(no_command(word, self.commands))
        if word not in self.commands and not (word is None and "--help" in args):
            args = [self._default.name or "", *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # as above
        # Any other word is the first argument of the default command.
        return self.commands.get(cmd_name, self._default)

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # as above
        """Show the default command's own page with all commands below."""
        page = TyperGroup(
            name=self.name,
            commands=dict(self.commands),
            params=self._default.params,
            help=self.help,
            epilog=None if "Example:" in (self.help or "") else self._default.epilog,
            subcommand_metavar=self.subcommand_metavar,
            rich_markup_mode=self.rich_markup_mode,
        )
        page.format_help(ctx, formatter)

    @property
    def _default(self) -> TyperCommand:
        first: Any = next(iter(self.commands.values()))
        return first  # type: ignore[no-any-return]  # every command of ours is a TyperCommand

    @property
    def _takes_words(self) -> bool:
        return any(parameter.param_type_name == "argument" for parameter in self._default.params)

    def _first_word(self, args: list[str]) -> str | None:
        valued = {
            name
            for parameter in self._default.params
            if not getattr(parameter, "is_flag", True)
            for name in parameter.opts
        }
        waiting = iter(args)
        for argument in waiting:
            if argument == "--":
                return next(waiting, None)
            if argument == "-" or not argument.startswith("-"):
                return argument
            if argument in valued:
                next(waiting, None)
        return None
