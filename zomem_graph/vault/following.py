"""Before anything is done: take in what people wrote, and let the files catch up with the database after a crash."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from zomem_graph.stores.errors import StoreReadOnly
from zomem_graph.vault.ground import Ground
from zomem_graph.vault.hand import TakenIn, note_files, take_in
from zomem_graph.vault.mirror import append_facts, write_activation, write_knowledge

__all__ = ["catch_up", "follow", "follow_uses", "rewrite", "stored_already"]


def catch_up(ground: Ground) -> TakenIn:
    """Take in what was changed by hand; write everything anew where that, or a crash, left the files behind."""
    taken = take_in(ground)
    if taken.anything or ground.behind():
        rewrite(ground)
    elif ground.untold():
        follow(ground, (), again=True)
    return taken


def rewrite(ground: Ground) -> None:
    """Write the knowledge graph anew and remember how it stands."""
    write_knowledge(ground)
    note_files(ground)
    ground.caught_up()


def follow(ground: Ground, fact_ids: Sequence[str], *, again: bool) -> None:
    """Append the lines of what was just written to the database; the lock is held since before that."""
    with stored_already():
        append_facts(ground, fact_ids, again=again)
        note_files(ground)
        ground.caught_up()


@contextmanager
def stored_already() -> Iterator[None]:
    """Add to the error of a file that cannot be written that the database holds what was given."""
    try:
        yield
    except StoreReadOnly as error:
        raise StoreReadOnly(
            f"{error} What was given is stored in the database and is found; the files follow when they can be "
            "written, at the latest with the next `zomem vault consolidate`."
        ) from error


def follow_uses(ground: Ground) -> None:
    """Write the activations anew after uses were counted."""
    write_activation(ground)
    ground.caught_up()
