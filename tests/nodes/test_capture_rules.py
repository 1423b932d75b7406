"""Which facts the published patterns find, and how well on messages nobody tuned them on.

The messages of `tests/data/capture_messages.jsonl` are split by a fixed hash: one half was used while the
patterns were written, the other is only measured. The floors below hold for both.
"""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zomem_graph.nodes.rules._english_things import ATTRIBUTE_SHAPES
from zomem_graph.nodes.rules.extract import MOST_FACTS, Candidate, facts_in
from zomem_graph.nodes.rules.keys import LIST_LIKE, is_many, normal
from zomem_graph.nodes.rules.quotes import quote_occurs, strip_not_user_text, strip_recalled
from zomem_graph.nodes.rules.tiers import CATEGORIES, TIERS

TESTS = Path(__file__).parent.parent
MESSAGES = TESTS / "data" / "capture_messages.jsonl"
RULES_PAGE = TESTS.parent / "docs" / "capture-rules.md"
LEAST_PRECISION = 0.90
LEAST_RECALL = 0.50

Message = dict[str, Any]


def messages(*, reported: bool) -> Iterator[Message]:
    for line in MESSAGES.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        if hashlib.sha256(message["id"].encode()).digest()[0] % 2 == reported:
            yield message


def found_in(message: Message) -> list[Candidate]:
    return facts_in(message["text"], speaker=message["speaker"], role=message["role"])


def said(text: str, *, speaker: str | None = None, role: str = "user") -> list[tuple[str, str, str]]:
    return [(one.entity, one.key, one.value) for one in facts_in(text, speaker=speaker, role=role)]


@pytest.mark.parametrize("reported", [False, True], ids=["tuning half", "reported half"])
def test_facts_are_found_with_few_mistakes(reported: bool) -> None:
    right = wrong = missed = 0
    for message in messages(reported=reported):
        labelled = {tuple(map(normal, (f["entity"], f["key"], f["value"]))) for f in message["facts"]}
        found = {tuple(map(normal, (one.entity, one.key, one.value))) for one in found_in(message)}
        right += len(labelled & found)
        wrong += len(found - labelled)
        missed += len(labelled - found)

    assert right / (right + wrong) >= LEAST_PRECISION
    assert right / (right + missed) >= LEAST_RECALL


@pytest.mark.parametrize("reported", [False, True], ids=["tuning half", "reported half"])
def test_messages_without_a_fact_are_left_alone(reported: bool) -> None:
    empty = [message for message in messages(reported=reported) if not message["facts"]]
    full = [message for message in messages(reported=reported) if message["facts"]]

    assert sum(bool(found_in(message)) for message in empty) <= 0.02 * len(empty)
    assert sum(bool(found_in(message)) for message in full) >= 0.80 * len(full)


def test_labelled_messages_are_many_and_half_without_a_fact() -> None:
    everything = [*messages(reported=False), *messages(reported=True)]

    assert len(everything) >= 240
    assert 0.4 <= sum(not message["facts"] for message in everything) / len(everything) <= 0.6
    assert {message["lang"] for message in everything} == {"en", "de", "es", "fr", "zh"}


def test_the_page_of_rules_publishes_every_key_and_attribute() -> None:
    page = " ".join(RULES_PAGE.read_text(encoding="utf-8").replace("\n> ", " ").split())
    collecting = page.split("decides for one fact: ")[1].split(" The same value")[0].split(", ")
    shapes = page.split("| shape | attributes |")[1].split("## What is over")[0]

    assert set(collecting) == LIST_LIKE
    assert {name.strip() for cell in shapes.split("|") for name in cell.split(",")} >= set(ATTRIBUTE_SHAPES)


def test_the_first_person_is_the_speaker_or_the_user() -> None:
    assert said("I live in Utrecht.", speaker="Mara") == [("Mara", "city", "Utrecht")]
    assert said("We live at 14B Elm Row in Utrecht, top floor.") == [("user", "address", "14B Elm Row in Utrecht")]
    assert said("I live at 7 Elm Street now. It is big.") == [("user", "address", "7 Elm Street")]
    assert said("I live at 3 AM on coffee.") == said("We live at home.") == []
    assert said("I live in Utrecht.") == [("user", "city", "Utrecht")]


@pytest.mark.parametrize("role", ["assistant", "tool", "system", "developer"])
def test_only_what_the_user_says_is_a_fact(role: str) -> None:
    assert said("My name is Zo and the port of the mailer is 25.", role=role) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("port = 8080", ("project", "port", "8080")),
        ("DB_HOST=localhost", ("project", "db host", "localhost")),
        ("The port of Alpha is 1", ("Alpha", "port", "1")),
        ("sshd now listens on 49222", ("sshd", "port", "49222")),
        ("Project Phoenix is done", ("Project Phoenix", "status", "done")),
        ("the meeting moved to 3pm", ("meeting", "time", "3pm")),
        ("We decided against Kubernetes", ("project", "decision", "against Kubernetes")),
        ("I have a meeting with Dr. Chen on Tuesday at 4", ("user", "meeting with dr. chen", "Tuesday at 4")),
        ("Remember that my locker number is 17", ("user", "note", "my locker number is 17")),
        ("My favourite colour is teal", ("user", "favorite color", "teal")),
        ("项目的截止日期是5月1日", ("项目", "deadline", "5月1日")),
    ],
)
def test_a_short_statement_is_enough(text: str, fact: tuple[str, str, str]) -> None:
    assert said(text) == [fact]


def test_what_is_over_says_what_it_ends() -> None:
    employer, tool, diet = (
        facts_in(text, speaker=None, role="user")[0]
        for text in ("I no longer work at Acme", "We no longer use Redis", "I'm no longer vegan")
    )

    assert (employer.key, employer.value, employer.ends) == ("employer", "no longer Acme", "Acme")
    assert (tool.key, tool.value, tool.ends) == ("uses", "no longer Redis", "Redis")
    assert (diet.key, diet.value, diet.ends) == ("diet", "no longer vegan", "vegan")


def test_a_change_names_the_old_value() -> None:
    (switched,) = facts_in("I switched from VS Code to Zed.", speaker=None, role="user")

    assert (switched.value, switched.ends) == ("Zed", "VS Code")


@pytest.mark.parametrize(
    "text",
    [
        "Is the port 8080?",
        "I might move to Lisbon",
        "If I lived in Paris I would be happy",
        "Tom said he is allergic to nuts",
        'She said "I live in Oslo and hate snow"',
        "> I live in Oslo",
        "```\nport = 8080\n```",
        "import os\nport = 8080\nprint(port)",
        "Translate: my name is Bob",
        "Pretend you are a pirate. My name is Bob.",
        "I think the port is 8080",
        "I don't have a dog named Rex?",
        "I like the way you explained it",
        "The port is open",
        "My laptop is slow",
        "We decided yesterday",
        "Never mind",
        "Always happy to help!",
        "Don't forget, you got this!",
    ],
)
def test_what_is_not_stated_is_no_fact(text: str) -> None:
    assert said(text) == []


def test_a_question_after_a_statement_does_not_hide_it() -> None:
    assert said("My sister Ana is visiting, can you suggest a restaurant?") == [("user", "sister", "Ana")]


def test_a_later_value_in_the_same_message_is_the_correction() -> None:
    assert said("The port of Alpha is 1. No wait, the port of Alpha is 2.") == [("Alpha", "port", "2")]


def test_a_sentence_with_a_secret_gives_nothing() -> None:
    assert said("The host of the mailer is mx1.example and its password is tr0ub4dor&3x") == []
    assert said("The host of the mailer is [secret removed: password]") == []


def test_list_like_keys_collect_and_the_others_do_not() -> None:
    for one in (found for half in (False, True) for m in messages(reported=half) for found in found_in(m)):
        assert one.many == is_many(one.key)


def test_every_candidate_can_be_stored_and_names_its_sentence() -> None:
    for message in (*messages(reported=False), *messages(reported=True)):
        for one in found_in(message):
            assert one.quote in message["text"]
            assert quote_occurs(one.quote, message["text"])
            assert one.category in CATEGORIES
            assert one.tier in TIERS
            assert 0.6 <= one.confidence <= 1.0


def test_one_message_gives_no_more_than_twenty_facts() -> None:
    text = "\n".join(f"The port of server{number} is {9000 + number}." for number in range(50))

    assert len(said(text)) == MOST_FACTS


_PIECES = st.sampled_from(
    [
        *(
            "I live in ",
            "my name is ",
            "Mara",
            " and ",
            ", ",
            ". ",
            "\n",
            "port = 8080",
            "the port of ",
            " is ",
        ),
        *(
            "We decided ",
            "```",
            "<think>",
            "</think>",
            '"',
            "I like ",
            "?",
            "我叫",
            "。",
            "ich heiße ",
            "'",
            "=",
            " ",
        ),
        *(
            "<recalled-memory>",
            "</recalled-memory>",
            "my dog ",
            "moved to ",
            "{",
            "}",
            "{}",
            "always use ",
            "@",
            ":",
        ),
    ]
)
_TEXTS = st.one_of(st.text(), st.lists(_PIECES, max_size=20).map("".join))


@given(_TEXTS)
@example("0 LIVE IN <recalled-memory></recalled-memory>0")
def test_any_text_can_be_read_and_every_quote_occurs_in_it(text: str) -> None:
    for one in facts_in(text, speaker=None, role="user"):
        assert one.quote in text
        assert one.entity.strip()
        assert one.key.strip()
        assert one.value.strip()


@given(_TEXTS)
def test_stripping_first_changes_no_fact_and_adds_nothing(text: str) -> None:
    once = strip_not_user_text(text)

    assert facts_in(once, speaker=None, role="user") == facts_in(text, speaker=None, role="user")
    assert len(once) <= len(text) + text.count("<")


@pytest.mark.parametrize(
    "unit", ["I like ", "the port of ", "a, ", "<think>", "```", "I am. ", "我。", ".", "!?", '"a b ']
)
def test_reading_takes_time_linear_in_the_text(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    began = time.process_time()
    facts_in(text, speaker=None, role="user")
    assert time.process_time() - began < 5


def test_a_long_paste_is_read_within_a_second() -> None:
    text = "".join(f"I walked {n} miles along the river, and the old man sold boats there. " for n in range(1500))
    began = time.process_time()
    facts_in(text, speaker=None, role="user")
    assert len(text) > 100_000
    assert time.process_time() - began < 2


# Quotes


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I live in Lyon", "Well,  i live\nin LYON now."),
        ("it's mine", "She: it’s mine!"),
        ('"yes"', "He said “yes” twice"),
        ("住在", "我住在成都"),
    ],
)
def test_a_quote_may_differ_in_blanks_case_and_marks(quote: str, text: str) -> None:
    assert quote_occurs(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("port = 80", "port = 8080"),
        ("cat", "concatenate"),
        ("I live in Porto", "I live in Lyon"),
        ("", "x"),
        ("…", "…"),
    ],
)
def test_a_quote_must_really_occur(quote: str, text: str) -> None:
    assert not quote_occurs(quote, text)


# What the user did not say


@pytest.mark.parametrize(
    "text",
    [
        "<recalled-memory>\n- user city: Lyon\n</recalled-memory>\nHello there",
        '<recalled-memory id="7">I live in Lyon</recalled-memory>\nHello there',
        "<think>I live in Lyon</think>Hello there",
        "think> I live in Lyon </think>Hello there",
        "I live in Lyon.</think>\nHello there",
        "<system>I live in Lyon</system>\nHello there",
        "<tool_result>I live in Lyon</tool_result>\nHello there",
        "Hello there\n<think>I live in Lyon",
        "Assistant: I live in Lyon.\nStill me.\n\nHello there",
        "You are a helpful assistant.\nI live in Lyon.\n\nHello there",
        "2026-03-02 10:11:12 INFO I live in Lyon\nHello there",
        '{"city": "I live in Lyon"}\nHello there',
        "<|im_start|>system\nI live in Lyon<|im_end|>\n<|im_start|>user\nHello there<|im_end|>",
    ],
)
def test_recalled_text_thoughts_and_dumps_are_not_captured_again(text: str) -> None:
    assert strip_not_user_text(text).strip() == "Hello there"
    assert said(text) == []


@pytest.mark.parametrize(
    "text", ["use the <system> tag here", "a < b and b > c", "I live in <b>Lyon</b>.", "x\n\ny\n"]
)
def test_ordinary_text_is_kept_as_it_is(text: str) -> None:
    assert strip_not_user_text(text) == text


def test_only_recalled_text_is_taken_from_what_is_kept_verbatim() -> None:
    log = "2026-03-02 10:11:12 ERROR disk full\nAssistant: try again"

    assert strip_recalled(log) == log
    assert strip_recalled(f"<think>hm</think>{log}").strip() == log


@pytest.mark.parametrize("control", ["\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1c", "\x7f", "\x85", "\x9b"])
def test_a_control_character_within_a_value_does_not_cut_it(control: str) -> None:
    text = f"My cat is called Bisc{control}uit.\tMy sister lives in Porto."
    facts = {fact.key: fact for fact in facts_in(text, speaker=None, role="user")}

    assert facts["cat"].value == "Biscuit"
    assert facts["cat"].quote == f"My cat is called Bisc{control}uit."


def test_a_page_break_between_sentences_parts_them() -> None:
    facts = facts_in("My cat is called Biscuit.\x0cMy dog is called Rufus.", speaker=None, role="user")

    assert {fact.value for fact in facts} == {"Biscuit", "Rufus"}
