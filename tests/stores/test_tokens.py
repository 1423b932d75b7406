"""Token vectors in the database: what is kept, counted, found missing, and gone with its item."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from zomem_graph.stores.items import NewItem
from zomem_graph.stores.store import Home, Stores
from zomem_graph.stores.tokens import TOKEN, TOKEN_WIDTH, NewTokens, pack
from zomem_graph.stores.unit import Unit

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
MODEL = "some-model"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = Stores.open(Home(tmp_path, tmp_path / "zomem.db"))
    yield opened
    opened.close()


def add(unit: Unit, *ids: str) -> list[int]:
    return unit.items.add(
        [NewItem(id=id_, kind="fact", persona="ana", text=f"text {id_}", created_at=NOW) for id_ in ids]
    )


def tokens_of(unit: Unit, num: int, *pieces: int) -> NewTokens:
    """Return tokens for an item as it stands, with directions that depend on the pieces alone."""
    digest = {one.num: one.text_hash for one in unit.items.find(["a", "b", "c", "d"])}.get(num, "none")
    return NewTokens(num, digest, np.array(pieces, np.uint16), directions(*pieces))


def directions(*pieces: int) -> NDArray[np.float32]:
    made = [np.random.default_rng(piece).standard_normal(TOKEN_WIDTH) for piece in pieces]
    rows = np.array(made, np.float32).reshape(-1, TOKEN_WIDTH)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


vectors = arrays(np.float32, (3, TOKEN_WIDTH), elements=st.floats(-1, 1, width=32))


@given(vectors)
def test_a_packed_vector_keeps_its_direction(rows: NDArray[np.float32]) -> None:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows[lengths[:, 0] > 1e-3] / lengths[lengths[:, 0] > 1e-3]

    stored = np.frombuffer(pack(np.zeros(len(rows), np.uint16), rows), TOKEN)
    back = stored["vector"].astype(np.float32) * stored["scale"].astype(np.float32)[:, None]

    assert np.sum(back * rows, axis=1) == pytest.approx(np.ones(len(rows)), abs=0.003)


def test_what_is_put_is_found_by_number_and_takes_132_bytes_a_token(stores: Stores) -> None:
    with stores.write() as unit:
        one, two, three = add(unit, "a", "b", "c")
        unit.tokens.put([tokens_of(unit, two, 7, 8), tokens_of(unit, one, 9)], model=MODEL)
    with stores.read() as unit:
        found = unit.tokens.of([three, two, one], model=MODEL)

    assert dict(zip(found.nums, found.counts.tolist(), strict=True)) == {one: 1, two: 2}
    assert found.tokens.nbytes == 3 * 132
    pieces = dict(zip(found.nums, np.split(found.tokens["piece"], np.cumsum(found.counts)[:-1]), strict=True))
    assert pieces[one].tolist() == [9]
    assert pieces[two].tolist() == [7, 8]


def test_a_piece_is_counted_once_an_item(stores: Stores) -> None:
    with stores.write() as unit:
        one, two = add(unit, "a", "b")
        unit.tokens.put([tokens_of(unit, one, 7, 7, 8), tokens_of(unit, two, 7)], model=MODEL)

    with stores.read() as unit:
        assert unit.tokens.frequencies([7, 8, 9], model=MODEL) == {7: 2, 8: 1}
        assert unit.tokens.total(model=MODEL) == 2
        assert unit.tokens.total(model="another") == 0


@pytest.mark.parametrize("leave", ["end", "purge"])
def test_tokens_leave_with_their_item_and_are_counted_out(leave: str, stores: Stores) -> None:
    with stores.write() as unit:
        one, two = add(unit, "a", "b")
        unit.tokens.put([tokens_of(unit, one, 7, 8), tokens_of(unit, two, 7)], model=MODEL)
        if leave == "end":
            unit.items.end(["a"], state="deleted", at=NOW)
        else:
            unit.items.purge(["a"])

    with stores.read() as unit:
        assert unit.tokens.of([one, two], model=MODEL).nums == [two]
        assert unit.tokens.frequencies([7, 8], model=MODEL) == {7: 1}
        assert unit.tokens.total(model=MODEL) == 1


def test_what_lacks_tokens_is_asked_for_oldest_first_until_it_has_them(stores: Stores) -> None:
    with stores.write() as unit:
        nums = add(unit, "a", "b", "c")
        unit.tokens.put([tokens_of(unit, nums[1], 7)], model=MODEL)
        assert [num for num, _text, _hash in unit.tokens.pending(model=MODEL, limit=10)] == [nums[0], nums[2]]
        assert unit.tokens.pending(model=MODEL, limit=1)[0][1] == "text a"

        unit.tokens.put([tokens_of(unit, nums[0], 7), tokens_of(unit, nums[2])], model=MODEL)
        assert unit.tokens.pending_count(model=MODEL) == 0
        assert unit.tokens.pending_count(model="another") == 3

        (last,) = add(unit, "d")
        assert [num for num, *_ in unit.tokens.pending(model=MODEL, limit=10)] == [last]


def test_what_ended_changed_or_has_tokens_is_skipped(stores: Stores) -> None:
    with stores.write() as unit:
        one, two, three = add(unit, "a", "b", "c")
        ended = tokens_of(unit, one, 7)
        unit.items.end(["a"], state="deleted", at=NOW)
        changed = NewTokens(two, "another hash", ended.pieces, ended.vectors)
        unit.tokens.put([tokens_of(unit, three, 7)], model=MODEL)

        assert unit.tokens.put([ended, changed, tokens_of(unit, three, 8)], model=MODEL) == 0
        assert unit.tokens.frequencies([7, 8], model=MODEL) == {7: 1}


def test_two_models_lie_side_by_side(stores: Stores) -> None:
    with stores.write() as unit:
        (num,) = add(unit, "a")
        unit.tokens.put([tokens_of(unit, num, 7)], model=MODEL)
        unit.tokens.put([tokens_of(unit, num, 8, 9)], model="newer")

        assert unit.tokens.of([num], model="newer").counts.tolist() == [2]
        unit.items.purge(["a"])
        assert unit.tokens.total(model=MODEL) == unit.tokens.total(model="newer") == 0
