"""Stems outside the database equal those inside it."""

import sqlite3

from hypothesis import example, given
from hypothesis import strategies as st

from zomem_graph.stores.stems import stem, stems_among

_ENDINGS = [
    "s",
    "es",
    "ies",
    "ed",
    "ing",
    "eed",
    "ational",
    "izer",
    "ful",
    "ness",
    "ement",
    "ion",
    "ate",
    "y",
    "ll",
    "e",
]
words = st.one_of(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12),
    st.tuples(st.text("abcdeghilmnorstuvy", min_size=1, max_size=7), st.sampled_from(_ENDINGS)).map("".join),
)


def stemmed_by_sqlite(word: str) -> str:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table f using fts5(t, tokenize='porter unicode61')")
    database.execute("create virtual table v using fts5vocab(f, 'row')")
    database.execute("insert into f values (?)", [word])
    found = database.execute("select term from v").fetchall()
    database.close()
    return str(found[0][0])


@given(words)
@example("eed")  # shorter than the rule of SQLite for its ending
@example("ies")
@example("sses")
@example("ayyed")  # and "yy" a double consonant
@example("yyed")  # a y behind a y is a vowel for SQLite where it looks for any
def test_a_stem_is_the_one_the_full_text_makes(word: str) -> None:
    assert stem(word) == stemmed_by_sqlite(word)


@given(st.lists(words), st.sets(words))
def test_looking_for_some_stems_finds_those_of_all_words(said: list[str], asked: set[str]) -> None:
    wanted = {stem(word) for word in asked}
    assert stems_among(" ".join(said), wanted) == {stem(word) for word in said} & wanted
