"""What is stored can be found again, and any string at all may be asked."""

import sqlite3
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.words import match_any, match_scoped, scope_token, search_text, terms

any_text = st.one_of(
    st.text(st.characters(codec=None, max_codepoint=sys.maxunicode), max_size=200),
    st.text("abv19 '’-_.&+#,\"*:()猫京กé\u0301\u00ad\0", max_size=60),
)
GRAMMAR = [
    "memory:safe",
    'say "hi',
    "a AND",
    "(python",
    "NEAR",
    "*",
    "e-mail",
    "{x} : y",
    "^a",
    "a + b",
    "'",
    "-",
]
PUNCTUATION = ["", "   ", "???", "!", ".", ",", "@", ":", "😀", "\0", "\ud800"]


class Index:
    """A real full-text table, with the tokenizer the store uses."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            "CREATE VIRTUAL TABLE rows USING fts5(scope, self, title,"
            " tokenize='porter unicode61 remove_diacritics 2')"
        )

    def add(self, text: str, *, scope: str = "", title: str = "") -> None:
        row = (scope, search_text(text), search_text(title))
        self.db.execute("INSERT INTO rows(scope, self, title) VALUES (?, ?, ?)", row)

    def match(self, expression: str | None) -> list[int]:
        if expression is None:
            return []
        found = self.db.execute("SELECT rowid FROM rows WHERE rows MATCH ? ORDER BY bm25(rows)", (expression,))
        return [rowid for (rowid,) in found]

    def ask(self, query: str) -> list[int]:
        return self.match(match_any(terms(query)))

    def empty(self) -> None:
        self.db.execute("DELETE FROM rows")


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()
    yield made
    made.db.close()


@pytest.fixture(scope="module")
def reused() -> Iterator[Index]:
    """One table for the many examples of a property test, which empties it each time."""
    made = Index()
    yield made
    made.db.close()


@pytest.mark.parametrize("query", GRAMMAR)
def test_query_grammar_is_only_text(index: Index, query: str) -> None:
    index.add(f"about {query} there")

    assert index.ask(f"what about {query}?") == [1] or not terms(query)


@pytest.mark.parametrize("query", PUNCTUATION)
def test_a_question_without_a_word_asks_nothing(query: str) -> None:
    assert terms(query) == ()
    assert match_any(terms(query)) is None


@given(query=any_text)
def test_every_string_is_a_legal_question(reused: Index, query: str) -> None:
    reused.empty()

    assert reused.ask(query) == []


@given(wild=st.lists(any_text, max_size=5))
def test_terms_of_any_origin_are_quoted(reused: Index, wild: list[str]) -> None:
    reused.empty()
    reused.add("anything")

    assert reused.match(match_any(wild)) in ([], [1])


@given(text=any_text)
def test_what_is_stored_is_found_by_its_own_words(reused: Index, text: str) -> None:
    reused.empty()
    reused.add(text)

    assert reused.ask(text) == ([1] if search_text(text) else [])
    for word in search_text(text).split():
        assert reused.match(match_any([word])) == [1], word
    for term in terms(text):
        assert reused.match(match_any([term])) == [1], term


@given(text=any_text)
def test_search_text_is_letters_and_digits_joined_by_single_spaces(text: str) -> None:
    words = search_text(text).split(" ")

    assert words == [""] or all(word.isalnum() for word in words)


@pytest.mark.parametrize("typed", ["don't", "dont", "don’t", "DON'T", "don＇t"])
@pytest.mark.parametrize("stored", ["don't deploy on Friday", "Dont deploy on Friday", "don’t deploy"])
def test_an_apostrophe_changes_nothing(index: Index, stored: str, typed: str) -> None:
    index.add(stored)

    assert index.ask(typed) == [1]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Anna's bike", "anna"),
        ("we're at O'Brien's", "OBrien"),
        ("we met at O’Brien", "brien"),
        ("l'hôtel de ville", "hotel"),
        ("he'll come", "he"),
    ],
)
def test_possessives_and_clitics_leave_the_word_they_stand_on(index: Index, stored: str, asked: str) -> None:
    index.add(stored)

    assert index.ask(asked) == [1]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (stored, asked)
        for stored, whole, *parts in [
            ("Ankara'da yaşıyorum", "ankarada", "Ankara", "Ankara’da"),
            ("Lavoro all'ospedale di Roma", "allospedale", "ospedale", "dell'ospedale", "l'ospedale"),
            ("Aujourd’hui il pleut", "aujourdhui", "aujourd'hui"),
            ("İstanbul’un sokakları", "istanbulun", "İstanbul"),
            ("O'Brien rang", "OBrien", "Brien", "O'Brien"),
        ]
        for asked in (whole, *parts)
    ],
)
def test_what_stands_around_an_apostrophe_is_found_in_parts_and_whole(index: Index, stored: str, asked: str) -> None:
    index.add(stored)

    assert index.ask(asked) == [1]


def test_he_ll_is_not_hell(index: Index) -> None:
    index.add("he'll be late")

    assert index.ask("hell") == []


def test_a_natural_question_is_an_or_of_its_words(index: Index) -> None:
    index.add("migrated the database last spring")
    index.add("planted tulips in spring")

    assert index.ask("database migration") == [1]
    assert index.ask("What did we migrate in the spring?") == [1, 2]


def test_stop_words_alone_are_still_asked(index: Index) -> None:
    index.add("the who are on stage")

    assert terms("Who are the who?") == ("who", "are", "the")
    assert index.ask("the who") == [1]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("新的部署方案已经通过", "部署"),
        ("新的部署方案已经通过", "方案"),
        ("端到端测试", "端到端测试结果"),
        ("猫が好き", "猫"),
        ("白い猫", "猫"),
        ("黒猫と犬", "猫"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("집에서 커피를 마셨다", "커피"),
        ("집에서 커피를 마셨다", "집"),
        ("ฉันชอบกาแฟเย็น", "กาแฟ"),
    ],
)
def test_part_of_a_run_without_spaces_is_found(index: Index, stored: str, asked: str) -> None:
    index.add(stored)
    index.add("unrelated 別の話 다른 อื่น")

    assert index.ask(asked) == [1]


def test_rows_that_share_more_pairs_rank_first(index: Index) -> None:
    index.add("单元测试")
    index.add("端到端测试")

    assert index.ask("端到端测试结果") == [2, 1]


@pytest.mark.parametrize("asked", ["go", "AI", "R"])
def test_short_words_are_found(index: Index, asked: str) -> None:
    index.add("we use Go, R and AI here")
    index.add("gopher rain aisle")

    assert index.ask(asked) == [1]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("C++", ["c", "C#", "plus"]),
        ("C#", ["c", "C++", "F#"]),
        (".NET", ["net", "internet"]),
        ("F#", ["f", "C#"]),
        ("g++", ["g"]),
    ],
)
def test_names_told_apart_by_signs_stay_apart(index: Index, name: str, others: list[str]) -> None:
    index.add(f"We write {name}.")

    assert index.ask(f"who writes {name}?") == [1]
    assert [index.ask(other) for other in others] == [[] for _ in others]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("send an e-mail", "email"),
        ("send an email", "e-mail"),
        ("the open_loops table", "loops"),
        ("the open_loops table", "openloops"),
        ("node.js is old", "nodejs"),
        ("numpy 1.24.3 broke", "1.24.3"),
        ("release v2.3", "2.3"),
        ("release 2.3", "v2.3"),
        ("the R&D budget", "R&D"),
        ("it cost $1,200.50", "1200.50"),
        ("call AT&T", "AT&T"),
        ("C++17 only", "C++"),
        ("on 03 May 2024", "3 May"),
        ("on 3 May 2024", "2024-05-03"),
        ("Notepad++", "notepad"),
        ("write to anna@example.org", "anna@example.org"),
    ],
)
def test_compounds_are_found_in_parts_and_whole(index: Index, stored: str, asked: str) -> None:
    index.add(stored)

    assert index.ask(asked) == [1]


def test_a_version_is_not_another_version(index: Index) -> None:
    index.add("pinned to 12.43")
    index.add("pinned to 1.24.3")

    assert index.match(match_any([search_text("1.24.3").split()[-1]])) == [2]


def test_diacritics_width_case_and_hidden_characters_do_not_matter(index: Index) -> None:
    index.add("Café ＳＵＳＨＩ pass\u00adword Stra\u00dfe Acme™ \u0645\u064f\u062d\u064e\u0645\u062f")

    for asked in ["cafe", "sushi", "password", "STRASSE", "acme", "محمد"]:
        assert index.ask(asked) == [1], asked


def test_a_very_long_word_is_found_and_a_long_question_is_cut(index: Index) -> None:
    index.add("A" * 5_000)

    assert index.ask("a" * 1_999) == [1]
    assert len(terms(" ".join(f"w{n}" for n in range(1_000)))) == 32
    assert terms("a b c", limit=0) == ()


def test_a_scope_shows_only_its_own_rows(index: Index) -> None:
    names = ["dev", "dev2", "d_v", "%", "DEV", "de", "d", "", "dév", "de\u0301v", "dev "]
    tokens = [scope_token("persona", name) for name in names]
    for token in tokens:
        index.add("the same words", scope=token)

    assert len(set(tokens)) == len(names)
    for row, token in enumerate(tokens, start=1):
        assert index.match(match_scoped(["words"], ["self"], [token])) == [row]


def test_a_scope_may_name_several_personas_and_needs_every_other_token(index: Index) -> None:
    me, shared, other = (scope_token("persona", name) for name in ("me", "shared", "other"))
    live = scope_token("state", "live")
    for persona in (me, shared, other):
        index.add("tea", scope=f"{persona} {live}")
        index.add("tea", scope=persona)

    assert index.match(match_scoped(["tea"], ["self", "title"], [(me, shared), live])) == [1, 3]


def test_words_are_looked_for_in_the_named_columns_only(index: Index) -> None:
    token = scope_token("persona", "me")
    index.add("tea", scope=token)
    index.add("other", scope=token, title="tea")

    assert index.match(match_scoped(["tea"], ["title"], [token])) == [2]
    assert index.match(match_scoped([token], ["self", "title"], [token])) == []


def test_the_scope_may_stand_in_another_column(index: Index) -> None:
    index.add("tea", title="zlive")

    assert index.match(match_scoped(["tea"], ["self"], ["zlive"], scope_column="title")) == [1]


@given(query=any_text, name=any_text)
def test_a_scoped_question_never_reaches_another_persona(reused: Index, query: str, name: str) -> None:
    reused.empty()
    mine, theirs = scope_token("persona", name), scope_token("persona", name + "2")
    reused.add(query, scope=theirs)

    assert reused.match(match_scoped(terms(query), ["self", "title"], [mine])) == []


@pytest.mark.parametrize("tokens", [[], [""], [()], ['x" OR "y'], ["a b"]])
def test_an_empty_or_odd_scope_is_refused(tokens: list[str | tuple[str, ...]]) -> None:
    with pytest.raises(InvalidInput, match="scope"):
        match_scoped(["tea"], ["self"], tokens)


@pytest.mark.parametrize("columns", [[], ["self} : x"], ["Self"]])
def test_an_odd_column_is_refused(columns: list[str]) -> None:
    with pytest.raises(InvalidInput, match="columns"):
        match_scoped(["tea"], columns, ["abc"])


def test_a_scope_token_depends_on_its_kind() -> None:
    assert scope_token("persona", "x") != scope_token("thread", "x")
    assert scope_token("a", "bc") != scope_token("ab", "c")


@pytest.mark.parametrize("piece", ["a", "1", "a'", "é", "a+", "1,", "1.", "a-", ".net", "中a", "l'abc"])
def test_a_million_characters_without_a_space_are_taken_in(piece: str) -> None:
    assert search_text(piece * (1_000_000 // len(piece)) + " end").endswith(" end")
