"""What a message shows by its words, and what the gate makes of it."""

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.cues import Verdict, judge, read_cues
from zomem_graph.nodes.rules.phrases import fold, read_words

DATA = Path(__file__).resolve().parent.parent / "data"


def verdict(message: str) -> Verdict:
    return judge(read_cues(message)).verdict


def rows(name: str, *, half: int) -> list[dict[str, Any]]:
    """One half of a hand-written set, parted by a hash of the text that never changes."""
    read = map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())
    return [row for row in read if sha256(row["text"].encode()).digest()[0] & 1 == half]


@pytest.mark.parametrize(
    "message",
    [
        "continue",
        "next",
        "do it",
        "go ahead",
        "lgtm",
        "ok do that",
        "Yes, please continue.",
        "yes please",
        "status?",
        "Danke, mach bitte weiter",
        "and then?",
        "weiter",
        "mach weiter",
        "继续",
        "sigue",
        "continue s'il te plaît",
        "pode continuar",
        "続けて",
        "계속",
        "계속해 주세요",
        "продолжай",
        "Продолжайте, пожалуйста!",
        "продовжуй",
        "kontynuuj",
        "devam et",
        "أكمل",
        "जारी रखें",
        "ga door",
        "Fortsätt",
        "vai avanti",
        "tiếp tục",
        "המשך",
    ],
)
def test_a_bare_word_to_go_on_continues(message: str) -> None:
    assert verdict(message) is Verdict.CONTINUE


@pytest.mark.parametrize(
    "message", ["계속 아프다", "продолжай стих о море", "dalej jest zimno", "devam eden proje nedir"]
)
def test_a_word_to_go_on_inside_a_message_alone_does_not_continue(message: str) -> None:
    assert verdict(message) is not Verdict.CONTINUE


@pytest.mark.parametrize(
    "message",
    [
        "hello",
        "hi there",
        "Hello there, good morning!",
        "thanks!",
        "good morning",
        "Thanks for that answer",
        "how are you?",
        "ok",
        "Guten Morgen",
        "¡Gracias!",
        "bonjour",
        "olá",
        "你好",
        "ありがとうございます",
    ],
)
def test_a_courtesy_needs_no_memory(message: str) -> None:
    assert verdict(message) is Verdict.SKIP


@pytest.mark.parametrize(
    "message",
    [
        "Translate this to French.",
        "Give me a poem.",
        "What is a monad?",
        "12 * 17 + 3",
        "Tell me a joke",
        "How does a heat pump work?",
        "What's the capital of Mongolia?",
        "Are you a robot?",
        "flip a coin",
    ],
)
def test_a_task_that_holds_all_it_needs_is_skipped(message: str) -> None:
    assert verdict(message) is Verdict.SKIP


@pytest.mark.parametrize(
    "message",
    [
        "Where do I usually park?",
        "what did I tell you about my sister's allergy?",
        "What's my wifi password?",
        "Who gave me the blue mug?",
        "the list I made in Rome",
        "Wann hat meine Frau Geburtstag?",
        "我的狗叫什么名字？",
        "Suggest a restaurant I would like",
        "Which came first, the dinner or the trip?",
    ],
)
def test_a_question_about_oneself_needs_memory(message: str) -> None:
    assert verdict(message) is Verdict.NEEDED


@pytest.mark.parametrize("message", ["Who is Marta?", "When does the lease end?", "deploy to staging"])
def test_what_the_words_leave_open_is_left_to_the_evidence(message: str) -> None:
    assert verdict(message) is Verdict.UNSURE


def test_a_greeting_before_a_question_does_not_decide() -> None:
    assert verdict("Hi! What size shoes do my kids wear?") is Verdict.NEEDED
    assert verdict("Hello, where did we leave off?") is Verdict.CONTINUE
    assert read_cues("Hello, where did we leave off?").greeting


def test_being_short_or_ending_in_a_full_stop_is_no_signal() -> None:
    assert not read_cues("Boil two eggs.").continuation
    assert read_cues("Boil two eggs.").continuation_score == 0


def test_a_phrase_is_found_as_whole_words_only() -> None:
    assert not read_cues("The resulting string is stillborn").signals


def test_a_wikilink_needs_memory_even_in_a_task() -> None:
    cues = read_cues("Summarise [[Project Heron|the heron]] and [[Ana]]")

    assert cues.wikilinks == ("Project Heron", "Ana")
    assert judge(cues).verdict is Verdict.NEEDED


def test_quoted_words_are_material_and_no_cue() -> None:
    assert verdict('Translate "where did we leave off" into German') is Verdict.SKIP
    assert verdict("Rewrite this in the passive: my brother forgot our meeting yesterday") is Verdict.SKIP


def test_names_are_found_inside_a_sentence() -> None:
    names = read_cues("Does Ana Brandt still meet Priya in Paris, or IT in English?").capitalised_names

    assert names == ("Ana Brandt", "Priya", "Paris")


def test_keywords_are_the_first_six_words_that_say_something() -> None:
    keywords = read_cues("What did we decide about the onboarding checklist for Lisbon v2.1 and Porto?").keywords

    assert keywords == ("decide", "onboarding", "checklist", "lisbon", "v2.1", "porto")


def test_an_empty_message_is_skipped() -> None:
    assert read_cues("  ?!  ").empty
    assert verdict("") is Verdict.SKIP


def test_what_leans_on_its_conversation_is_not_general_knowledge() -> None:
    for message in ("And what does she do?", "How does it work?"):
        assert judge(read_cues(message)).verdict is Verdict.SKIP
        assert judge(read_cues(message), leaning=True).verdict is Verdict.UNSURE
    assert judge(read_cues("thanks!"), leaning=True).verdict is Verdict.SKIP


def test_every_judgement_has_a_reason_in_one_line() -> None:
    for message in ("hello", "continue", "Who is Marta?", "my keys?", "", "[[x]]", "what is a monad?"):
        reason = judge(read_cues(message)).reason
        assert reason
        assert "\n" not in reason


@pytest.mark.parametrize("half", [0, 1])
def test_continuations_are_told_from_the_rest(half: int) -> None:
    found = [
        (row["label"], read_cues(row["text"]).continuation) for row in rows("continuation_messages.jsonl", half=half)
    ]
    hits = found.count((True, True))

    assert hits / (hits + found.count((False, True))) >= 0.95
    assert hits / (hits + found.count((True, False))) >= 0.95


@pytest.mark.parametrize("half", [0, 1])
def test_no_message_that_needs_memory_is_skipped(half: int) -> None:
    judged = [(row["label"], verdict(row["text"])) for row in rows("gate_messages.jsonl", half=half)]
    told = {label: [given for truth, given in judged if truth == label] for label in ("memory", "skip", "unsure")}

    assert Verdict.SKIP not in told["memory"]
    assert Verdict.SKIP not in told["unsure"]
    assert told["memory"].count(Verdict.UNSURE) / len(told["memory"]) <= 0.05
    assert told["skip"].count(Verdict.SKIP) / len(told["skip"]) >= 0.9


@given(st.text(max_size=300) | st.text(alphabet="[]|'\"`«»“” \n:.?!,我的续はaAI's", max_size=300))
def test_no_string_makes_it_fail(message: str) -> None:
    judge(read_cues(message))


@given(st.text(max_size=60))
def test_case_and_accents_do_not_matter(message: str) -> None:
    assert fold(message.upper().lower()) == fold(fold(message.upper().lower()))
    assert all(read_words(word).words for word in read_words(message).words)


@pytest.mark.parametrize("piece", ["[[", "continue ", "'\"`«", "继续", "i did my ", ": ", "A. B "])
def test_a_huge_message_costs_no_more_than_a_page(piece: str) -> None:
    started = time.perf_counter()
    judge(read_cues(piece * (1_000_000 // len(piece))))

    assert time.perf_counter() - started < 0.5
