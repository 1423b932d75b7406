"""Another embedder for a store that has vectors: everything is embedded again, once, and nothing is lost."""

from pathlib import Path

import pytest

from tests.zomem_graph.command_line import CommandLine
from zomem_graph import Memory
from zomem_graph.nodes.ports import Vector
from zomem_graph.stores.errors import InvalidInput, ModelError
from zomem_graph.testing import SmallEmbedder

OTHER = SmallEmbedder(name="other")


class Silent(SmallEmbedder):
    def embed_query(self, text: str) -> Vector:
        raise ModelError("it does not answer")


def test_a_store_changes_over_to_another_embedder(home: Path) -> None:
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        memory.remember("ana", "city", "Porto")
        memory.flush()
    with Memory.open(home, embeddings=OTHER) as memory:
        assert any("to change over" in note for note in memory.standing_notes())
        check = next(one for one in memory.health().checks if one.name == "embedder")
        assert "index --rebuild --embeddings testing:other" in check.cure
        memory.change_embedder(OTHER)
        (hit,) = memory.search("Porto")
        assert (memory.standing_notes(), "meaning" in hit.found_by) == ((), True)
    with Memory.open(home, embeddings=OTHER) as memory:
        assert memory.standing_notes() == ()
        assert memory.verify()["ok"]


def test_an_embedder_that_does_not_answer_changes_nothing(home: Path) -> None:
    with Memory.open(home, embeddings=SmallEmbedder()) as memory:
        memory.remember("ana", "city", "Porto")
        with pytest.raises(ModelError, match="does not answer"):
            memory.change_embedder(Silent(name="silent"))
        with pytest.raises(InvalidInput, match="makes no vectors"):
            memory.change_embedder("none")
        memory.flush()
        assert "meaning" in memory.search("Porto")[0].found_by


def test_a_memory_that_is_still_open_with_the_old_one_does_not_change_it_back(home: Path) -> None:
    with Memory.open(home, embeddings=SmallEmbedder()) as old, Memory.open(home) as new:
        old.remember("ana", "city", "Porto")
        old.flush()
        new.change_embedder(OTHER)
        old.remember("ana", "job", "baker")
        with pytest.raises(ModelError, match="open it again"):
            old.flush()
        new.flush()
        assert all("meaning" in hit.found_by for hit in new.search("Ana the baker in Porto"))
        found = old.search("Porto")
        assert (len(found) > 0, "open it again" in " ".join(found.degraded)) == (True, True)


def test_the_shell_changes_over(home: Path) -> None:
    zomem = CommandLine(home)
    zomem("remember", "ana", "city", "Porto")
    assert "local:nothing" in zomem("index", "--embeddings", "local:nothing").stderr
    assert '"none" makes no vectors' in zomem("index", "--embeddings", "none").stderr
    assert zomem("index", "--rebuild", "--embeddings", "local:e5-small").exit_code == 0
