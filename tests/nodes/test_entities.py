"""The same name is found again wherever and however it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.entities import entities, entity_key, runs_of_words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Anna Smith in New York.", {"anna smith", "new york", "anna smith in new york"}),
        ("She studied at the University of Copenhagen.", {"university of copenhagen"}),
        ("We saw The Lord of the Rings by J. R. R. Tolkien", {"lord of the rings", "j r r tolkien"}),
        (
            "Ludwig van Beethoven met Johann Wolfgang von Goethe",
            {"ludwig van beethoven", "johann wolfgang von goethe"},
        ),
        ("George W. Bush and his dog", {"george w bush"}),
        ("He asked Dr. Who about it", {"dr who"}),
        ("the U.S. Navy", {"us navy"}),
        ("my iPhone talks to macOS", {"iphone", "macos"}),
        ("gestern war Élodie in Ōsaka", {"elodie in osaka", "elodie", "osaka"}),
        ("we met Anna's friend and O’Brien’s dog", {"anna", "obrien"}),
        ("Procter & Gamble sells soap", {"procter gamble", "procter", "gamble"}),
    ],
)
def test_runs_of_capitalised_words_are_names(text: str, names: set[str]) -> None:
    assert set(entities(text)) == names


@pytest.mark.parametrize(
    "text",
    [
        "In January 1960 it rained.",
        "See you on Monday, 5 May at 10 PM!",
        "It cost 120 in 2019 and 2020.",
        "Thanks! Yeah, that's great. Painting is fun. What do you think?",
        "I'm sure. I've seen it, and I don't mind.",
        "I LOVE THIS SO MUCH",
        "Dinner was good, and tomorrow's dinner will be better",
        "no capitals at all, e.g. this one",
        "",
        "???",
    ],
)
def test_dates_numbers_and_openings_are_no_names(text: str) -> None:
    assert entities(text) == ()


def test_a_word_that_opens_a_sentence_is_a_name_when_nothing_speaks_against_it() -> None:
    assert entities("Kyiv is the capital.") == ("kyiv",)
    assert entities("Great to hear. I read Great again.") == ("great",)
    assert entities("Hey Anna, how are you?") == ("anna",)
    assert entities("Last Friday Caroline called.") == ("caroline",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ask Karim about the Redis password", {"karim", "redis"}),
        ("Renew the TLS certificate before June", {"tls"}),
        ("TODO: ask Karim about it.", {"karim"}),
        ("- Fix Redis\n- Cancel Netflix\n- TODO write docs", {"redis", "netflix"}),
        ("Buy Milka. Pay Karim! Add OAuth to Stripe Checkout", {"milka", "karim", "oauth", "stripe checkout"}),
        ("Review the dashboard. Translate the guide. Email", set()),
        ("Left to do: Summary. Options: 1) paint, 2) paper", set()),
        ("We heard Left Eye and saw Renew Europe", {"left eye", "renew europe"}),
        ("Call of Duty is a game", {"call of duty"}),
        ("Take That is a band", {"take that"}),
        ("Open Source Initiative is old", {"open source initiative"}),
    ],
)
def test_what_is_to_be_done_is_no_part_of_a_name(text: str, names: set[str]) -> None:
    assert set(entities(text)) == names


def test_names_joined_by_and_are_kept_together_and_apart() -> None:
    assert set(entities("there were Anna Lee and Bob")) == {"anna lee and bob", "anna lee", "bob"}
    assert set(entities("the Republic of Austria and the National Bank of Austria")) == {
        "republic of austria",
        "national bank of austria",
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("see [[Anna Smith]] there", "anna smith"),
        ("see [[People/Anna Smith#Bio|her page]] there", "anna smith"),
        ("see [[notes/plan.md]]", "plan"),
        ("the id project.atlas is used", "project atlas"),
        ("have you read “The Name of the Wind”?", "the name of the wind"),
        ('have you read "Becoming Nicole"?', "becoming nicole"),
        ("ask @dev_ops about it", "dev ops"),
        ("我在读《三体》", "三体"),
        ("「吾輩は猫である」を読んだ", "吾輩は猫である"),
    ],
)
def test_marked_names_are_found(text: str, name: str) -> None:
    assert entities(text) == (name,)


@pytest.mark.parametrize("text", ['he said "maybe later, I think."', "mail anna@example.org", "i.e. v2.3 or 1.24"])
def test_what_only_looks_marked_is_not(text: str) -> None:
    assert entities(text) == ()


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Anna Smith", "anna smith"),
        ("ANNA  SMITH's", "anna smith"),
        ("O’Brien", "obrien"),
        ("Café Central (Vienna)", "cafe central"),
        ("(What's the Story)", "what the story"),
        ("J.R.R. Tolkien", "jrr tolkien"),
        ("U.S.", "us"),
        ("user_profile", "user profile"),
        ("Rock 'n' Roll", "rock n roll"),
        ("ｶﾞﾝﾀﾞﾑ", "ガンダム"),
        ("서울", "서울"),
        ("!!!", ""),
    ],
)
def test_spellings_of_one_name_share_a_key(name: str, key: str) -> None:
    assert entity_key(name) == key


@given(name=st.text(max_size=60))
def test_a_key_is_its_own_key(name: str) -> None:
    key = entity_key(name)

    assert entity_key(key) == key
    assert all(word.isalnum() for word in key.split())


@given(text=st.one_of(st.text(max_size=200), st.text("AbZé .,'\"-&[]@《》|and猫1\n", max_size=80)))
def test_any_text_gives_distinct_keys(text: str) -> None:
    found = entities(text)

    assert len(set(found)) == len(found)
    assert all(entity_key(name) == name for name in found)


def named(text: str, *known: str) -> set[str]:
    """Which of the known names a text may hold."""
    return set(known).intersection(runs_of_words(text))


def test_known_names_are_found_however_they_are_written() -> None:
    known = ("anna smith", "new york city", "the who", "cafe central", "boston")

    assert named("did ANNA smith's band play new york city?", *known) == {"anna smith", "new york city"}
    assert named("at Café Central with New York’s the who", *known) == {"cafe central", "the who"}


def test_known_names_are_found_in_text_without_spaces() -> None:
    assert named("昨日東京で三体を読んだ", "東京", "三体", "大阪") == {"東京", "三体"}
    assert named("서울에서 만났다", "서울") == {"서울"}


def test_a_function_word_is_no_known_name() -> None:
    assert named("who is it", "who", "it") == set()


@given(
    before=st.text("ab ,", max_size=20),
    name=st.sampled_from(["Anna Smith", "Zürich", "《三体》", "São Paulo"]),
)
def test_a_mentioned_name_is_found_by_its_key(before: str, name: str) -> None:
    assert entity_key(name) in runs_of_words(f"{before} {name}, {before}")


@given(text=st.text(max_size=2_000) | st.text("东京三体", max_size=2_000))
def test_no_text_holds_too_many_names_to_ask_for(text: str) -> None:
    assert len(runs_of_words(text)) < 10_000
