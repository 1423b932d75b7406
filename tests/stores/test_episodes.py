"""Episodes as rows: order, filters, entities, erasure."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from zomem_graph.stores.database import Database
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.lock import FolderLock
from zomem_graph.stores.records import Episode
from zomem_graph.stores.schema import prepare
from zomem_graph.stores.unit import Unit

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
EPISODE = Episode(
    id="e1",
    persona="ana",
    thread=None,
    session="s1",
    summary="Moved the site to the new host",
    outcome="success",
    happened_at=NOW,
    duration_ms=90_000.0,
    procedure_id=None,
    source="test",
    trust="user",
    created_at=NOW,
    metadata={"facts": 2},
    entities=("Site", "nginx"),
)


@pytest.fixture
def unit(database_url: str, tmp_path: Path) -> Iterator[Unit]:
    database = Database(database_url)
    prepare(database, lock=FolderLock(tmp_path / "lock"), backups=tmp_path / "backups", now=NOW)
    with database.write() as connection:
        yield Unit(connection, database.dialect)
    database.close()


def add(unit: Unit, episode: Episode) -> None:
    unit.episodes.add(episode, {name.lower(): name for name in episode.entities})
    item = NewItem(
        id=episode.id,
        kind="episode",
        persona=episode.persona,
        text=episode.summary,
        created_at=episode.happened_at,
    )
    unit.items.add([item])


def ids(episodes: list[Episode]) -> list[str]:
    return [episode.id for episode in episodes]


def test_an_episode_comes_back_as_it_was_saved(unit: Unit) -> None:
    add(unit, EPISODE)

    assert unit.episodes.find(["e1"]) == [EPISODE]


def test_the_newest_episode_comes_first(unit: Unit) -> None:
    for day in (2, 3, 1):
        add(unit, replace(EPISODE, id=f"e{day}", happened_at=NOW + timedelta(days=day)))

    assert ids(unit.episodes.newest(["ana"])) == ["e3", "e2", "e1"]
    assert ids(unit.episodes.newest(["ana"], limit=1)) == ["e3"]


def test_a_range_takes_its_start_and_leaves_its_end(unit: Unit) -> None:
    for day in (1, 2, 3):
        add(unit, replace(EPISODE, id=f"e{day}", happened_at=NOW + timedelta(days=day)))

    found = unit.episodes.newest(["ana"], since=NOW + timedelta(days=1), until=NOW + timedelta(days=3))

    assert ids(found) == ["e2", "e1"]


def test_outcome_and_entity_narrow_the_list(unit: Unit) -> None:
    add(unit, EPISODE)
    add(unit, replace(EPISODE, id="e2", outcome="failure", entities=("Mail",)))

    assert ids(unit.episodes.newest(["ana"], outcome="failure")) == ["e2"]
    assert ids(unit.episodes.newest(["ana"], entity="nginx")) == ["e1"]
    assert unit.episodes.newest(["ana"], entity="nginx", outcome="failure") == []


def test_another_persona_sees_nothing(unit: Unit) -> None:
    add(unit, EPISODE)

    assert unit.episodes.newest(["ben", "shared"]) == []
    assert unit.episodes.starting_with(["ben"], "e") == []


def test_an_episode_deleted_from_search_is_not_listed(unit: Unit) -> None:
    add(unit, EPISODE)
    unit.items.end(["e1"], state="deleted", at=NOW)

    assert unit.episodes.newest(["ana"]) == []
    assert unit.episodes.of_session("ana", "s1", source="test") is None


def test_an_entity_joins_an_episode_once(unit: Unit) -> None:
    add(unit, EPISODE)
    unit.episodes.join("e1", {"nginx": "NGINX", "mail": "Mail"})

    assert unit.episodes.find(["e1"])[0].entities == ("Mail", "Site", "nginx")


def test_an_entity_can_leave_every_episode(unit: Unit) -> None:
    add(unit, EPISODE)

    assert unit.episodes.leave("nginx", ["ben"]) == 0
    assert unit.episodes.leave("nginx", ["ana"]) == 1
    assert unit.episodes.find(["e1"])[0].entities == ("Site",)


def test_purged_episodes_leave_nothing(unit: Unit) -> None:
    add(unit, EPISODE)

    assert unit.episodes.purge(["e1"]) == 1
    assert unit.episodes.find(["e1"]) == []
    assert unit.episodes.count() == 0
