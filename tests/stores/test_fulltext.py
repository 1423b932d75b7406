"""Full text on every database: the same items, with the same scores, whatever is asked."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import text

from tests.postgres import PostgresServer
from zomem_graph.stores.database import Database
from zomem_graph.stores.dialect import WordsQuery
from zomem_graph.stores.items import NewItem
from zomem_graph.stores.schema import prepare
from zomem_graph.stores.stems import stem
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.words import search_text, terms

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
WORDS = """
    run running runner apology apologies assembly assemblies incredibly geology anthropologie café cafés naïve
    Zürich 東京 東京タワー 咖啡 한국어 привет Москва йогурт e-mail C++ C# .NET snake_case 1.24.3 03 3 don't O'Neill
    the was of meeting meetings dentist garden gardening gardener happy happily relational conditional hopping
    falling hissing fizzed failing filing agreed plastered motoring troubled sized controll roll ǡ ß straße İstanbul
""".split()
ODD = [
    "",
    '"',
    "' or 1=1 --",
    "a & b | !c",
    "NEAR(a b)",
    "*",
    "(",
    "\x00",
    "\ud800",
    "🦆",
    "%",
    "a:b",
    "$$",
    "{x}",
    "\\",
]


def opened(url: str, folder: Path) -> Database:
    made = Database(url)
    prepare(made, lock=made.lock(folder / "zomem.lock"), backups=folder / "backups", now=NOW)
    return made


@pytest.fixture
def database(database_url: str, tmp_path: Path) -> Iterator[Database]:
    made = opened(database_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def both(postgres: PostgresServer, tmp_path: Path) -> Iterator[tuple[Database, Database]]:
    with postgres.database() as url:
        pair = opened(f"sqlite:///{tmp_path / 'zomem.db'}", tmp_path), opened(url, tmp_path)
        yield pair
        for one in pair:
            one.close()


def said(chance: Random, most: int = 25) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(0, most)))


def item(chance: Random, number: int) -> NewItem:
    return NewItem(
        id=f"i{number}",
        kind=chance.choice(["fact", "turn"]),
        persona=chance.choice(["anna", "ben", "Ä%_"]),
        text=said(chance),
        title=said(chance, 3),
        prev=said(chance),
        next=said(chance),
        date_words=chance.choice(["", "5 january 2026"]),
        created_at=NOW + timedelta(hours=number),
    )


def found(database: Database, query: WordsQuery) -> dict[int, float]:
    with database.read() as connection:
        return {hit.num: hit.score for hit in Unit(connection, database.dialect).items.by_words(query)}


@pytest.mark.parametrize("seed", range(4))
def test_both_databases_score_alike_after_any_changes(both: tuple[Database, Database], seed: int) -> None:
    chance = Random(seed)
    new = [item(chance, number) for number in range(60)]
    ended, gone = [f"i{n}" for n in range(0, 60, 7)], [f"i{n}" for n in range(3, 60, 11)]
    following = said(chance)
    for database in both:
        with database.write() as connection:
            items = Unit(connection, database.dialect).items
            items.add(new)
            items.end(ended, state="superseded", at=NOW)
            items.set_next("i5", following)
            items.purge(gone)
    for asked in (*(said(chance, 6) for _ in range(30)), "東", *WORDS):
        query = WordsQuery(
            terms=terms(asked),
            personas=chance.choice([["anna"], ["anna", "ben", "Ä%_"]]),
            kinds=chance.choice([["fact"], ["fact", "turn"]]),
            weights=chance.choice([(1.0, 0.5, 0.3, 1.0, 2.0), (1.0, 0.0, 0.0, 0.0, 0.0)]),
            live_only=chance.random() < 0.7,
            since=NOW + timedelta(hours=10) if chance.random() < 0.3 else None,
            until=NOW + timedelta(hours=40) if chance.random() < 0.3 else None,
        )
        sqlite, postgres = (found(database, query) for database in both)
        assert postgres.keys() == sqlite.keys(), asked
        assert postgres == pytest.approx(sqlite, rel=1e-9, abs=1e-12), asked
    for database in both:
        with database.write() as connection:
            assert Unit(connection, database.dialect).fulltext_fault() is None


def test_both_databases_make_the_stems_we_make(both: tuple[Database, Database]) -> None:
    words = {word for word in search_text(" ".join(WORDS)).split() if word.isascii()}
    for database in both:
        with database.write() as connection:
            unit = Unit(connection, database.dialect)
            unit.items.add([NewItem(id="a", kind="fact", persona="anna", text=" ".join(WORDS), created_at=NOW)])
            assert unit.erasure.unheard(sorted(words)) == set()
            assert unit.items.rarity([stem("gardening")]).keys() == {"garden"}


@pytest.mark.parametrize("asked", ODD)
def test_any_string_is_a_legal_question(database: Database, asked: str) -> None:
    with database.write() as connection:
        unit = Unit(connection, database.dialect)
        unit.items.add([NewItem(id="a", kind="fact", persona=asked or "anna", text=asked, created_at=NOW)])
    for words in (terms(asked), (asked,), (asked, "garden")):
        found(database, WordsQuery(terms=words, personas=[asked or "anna"], kinds=["fact"], within="zz0"))
    with database.read() as connection:
        assert Unit(connection, database.dialect).items.find(["a"])[0].text == asked


def test_a_search_stays_inside_its_persona_and_kind(database: Database) -> None:
    with database.write() as connection:
        new = [
            NewItem(id=f"{persona}{kind}", kind=kind, persona=persona, text="garden", created_at=NOW)
            for persona in ("anna", "Anna", "a%", "a_na")
            for kind in ("fact", "turn")
        ]
        nums = dict(zip([one.id for one in new], Unit(connection, database.dialect).items.add(new), strict=True))
    assert found(database, WordsQuery(terms=("garden",), personas=["anna"], kinds=["fact"])).keys() == {
        nums["annafact"]
    }
    assert found(database, WordsQuery(terms=("garden",), personas=[], kinds=["fact"])) == {}
    assert found(database, WordsQuery(terms=(), personas=["anna"], kinds=["fact"])) == {}


def test_a_full_text_that_lost_something_is_noticed_and_filled_again(database: Database) -> None:
    with database.write() as connection:
        unit = Unit(connection, database.dialect)
        unit.items.add([item(Random(1), number) for number in range(5)])
        assert unit.fulltext_fault() is None
        if database.dialect.name == "sqlite":
            connection.execute(text("insert into items_fts(items_fts) values('delete-all')"))
        else:
            connection.execute(text("delete from items_fts_words where num = 3"))
        assert unit.fulltext_fault() is not None
        unit.rebuild_fulltext()
        assert unit.fulltext_fault() is None


def test_a_lost_trigger_is_noticed_and_made_again(database: Database) -> None:
    on = "" if database.dialect.name == "sqlite" else " on items"
    with database.write() as connection:
        connection.execute(text(f"drop trigger items_fts_update{on}"))
        unit = Unit(connection, database.dialect)
        assert "items_fts_update" in (unit.fulltext_fault() or "")
        unit.rebuild_fulltext()
        assert unit.fulltext_fault() is None
