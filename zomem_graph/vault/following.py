"""Before anything is done: take in what people wrote, and let the files catch up with the database after a crash."""

from collections.abc import Sequence

from zomem_graph.vault.ground import Ground
from zomem_graph.vault.hand import TakenIn, note_files, take_in
from zomem_graph.vault.mirror import append_facts, write_activation, write_knowledge

__all__ = ["catch_up", "follow", "follow_uses", "rewrite"]


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
    append_facts(ground, fact_ids, again=again)
    note_files(ground)
    ground.caught_up()


def follow_uses(ground: Ground) -> None:
    """Write the activations anew after uses were counted."""
    write_activation(ground)
    ground.caught_up()
