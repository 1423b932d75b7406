"""What ends during the day is told in the files at once, so that files copied before the night bring nothing back."""

import shutil
from collections.abc import Callable

import pytest

from tests.zomem_graph.vault.kit import Ground, facts_of, said
from zomem_graph import Memory
from zomem_graph.testing import FixedClock
from zomem_graph.vault import Vault


def _texts_of_a_copy(ground: Ground) -> set[str]:
    """Return what holds in a vault that is made from a copy of the files as they are."""
    copy = Ground(ground.root / "copied", clock=ground.clock)
    shutil.copytree(ground.data, copy.data)
    with copy.open() as vault:
        vault.rebuild()
        return {fact.text for fact, *_ in facts_of(vault).values() if fact.state == "current"}


def _holding(vault: Vault) -> set[str]:
    return {fact.text for fact, *_ in facts_of(vault).values() if fact.state == "current"}


def _delete(memory: Memory) -> None:
    memory.delete(memory.search("Ana likes tea", limit=1)[0].id)


def _retract(memory: Memory) -> None:
    memory.retract(memory.search("Ana likes tea", limit=1)[0].id, "never true")


def _replace(memory: Memory) -> None:
    memory.remember("gateway", "port", "2")


def _say_otherwise(memory: Memory) -> None:
    memory.capture([{"role": "user", "content": "The gateway port is 2."}], session="said")


def _replace_and_take_back(memory: Memory) -> None:
    fact = memory.remember("gateway", "port", "2")
    memory.retract(fact.id, "a slip")


@pytest.mark.parametrize("change", [_delete, _retract, _replace, _say_otherwise, _replace_and_take_back])
def test_what_ended_before_the_night_does_not_come_back_from_a_copy(
    ground: Ground, change: Callable[[Memory], None]
) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "1"), said("Ana", "likes", "tea")])
        before = _holding(vault)
        ground.clock.advance(seconds=60)
        change(vault.memory)
        copied = _texts_of_a_copy(ground)
        now = _holding(vault)

    assert copied == now
    assert (now != before) == (change is not _replace_and_take_back)


def test_another_process_than_the_vault_tells_its_files_too(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "1")])
    with Memory.open(ground.root / "home", embeddings=ground.embedder, clock=FixedClock()) as memory:
        memory.remember("gateway", "port", "2")

    assert _texts_of_a_copy(ground) == {"gateway port: 2"}


def test_what_ended_while_the_files_were_held_is_told_by_the_next_call(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "1"), said("Ana", "likes", "tea")])
        with vault.ground.held("test"):
            _delete(vault.memory)
        vault.recall("gateway")

    assert _texts_of_a_copy(ground) == {"gateway port: 1"}


def test_a_fact_that_stands_again_is_not_archived_by_the_night(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "1")])
        _replace_and_take_back(vault.memory)
        vault.consolidate()

        assert _holding(vault) == {"gateway port: 1"}
    assert _texts_of_a_copy(ground) == {"gateway port: 1"}


def test_files_that_another_home_took_over_are_left_alone(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("Ana", "likes", "tea")])
    with ground.open(home="second") as vault:
        vault.rebuild()
    before = ground.facts.read_bytes()
    with Memory.open(ground.root / "home", embeddings=ground.embedder, clock=FixedClock()) as memory:
        _delete(memory)

    assert ground.facts.read_bytes() == before
