"""Going on from where one stopped, in fourteen languages: what asks for it, what only sounds like it."""

import json
from pathlib import Path

import pytest

from zomem_graph.nodes.rules.cues import Verdict, judge, read_cues
from zomem_graph.nodes.rules.topics import topic_words
from zomem_graph.stores.words import terms

LISTED = Path(__file__).resolve().parent.parent / "data" / "going_on_messages.jsonl"
ROWS = [json.loads(line) for line in LISTED.read_text(encoding="utf-8").splitlines()]
BARE = [row["text"] for row in ROWS if row["topic"] == ""]
TOPICAL = [(row["text"], row["topic"]) for row in ROWS if row["topic"]]
NONE = [row["text"] for row in ROWS if not row["label"]]


@pytest.mark.parametrize("message", BARE)
def test_asking_to_go_on_or_where_we_stopped_continues_and_names_nothing(message: str) -> None:
    assert judge(read_cues(message)).verdict is Verdict.CONTINUE
    assert topic_words(message) == ()


@pytest.mark.parametrize(("message", "topic"), TOPICAL)
def test_what_we_stopped_at_is_the_topic_and_stopping_is_not(message: str, topic: str) -> None:
    assert judge(read_cues(message)).verdict is Verdict.CONTINUE
    assert topic_words(message) == terms(topic)


@pytest.mark.parametrize("message", NONE)
def test_what_only_sounds_like_going_on_does_not_continue(message: str) -> None:
    assert judge(read_cues(message)).verdict is not Verdict.CONTINUE


@pytest.mark.parametrize("politely", ["{}!", "ok, {}", "{} please", "yes {}"])
@pytest.mark.parametrize("message", ["weitermachen", "riprendiamo", "prossegue", "devam et", "продолжим"])
def test_courtesies_around_it_change_nothing(message: str, politely: str) -> None:
    assert topic_words(politely.format(message)) == ()
    assert read_cues(politely.format(message)).continuation


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("continue with Ben's chart", ("ben", "chart")),
        ("weiter mit Ben", ("ben",)),
        ("let's continue with the door", ("door",)),
        ("update my resume and then go on with the flat", ("resume", "flat")),
        ("let's go on with the bus stop signs", ("bus", "stop", "signs")),
    ],
)
def test_names_and_things_that_look_like_words_for_going_on_stay_in_the_topic(
    message: str, topic: tuple[str, ...]
) -> None:
    assert set(topic) <= set(topic_words(message))


@pytest.mark.parametrize(
    "message", ["Continue with steps 2, 3, 4", "Continue with the plan: first the header, then the footer"]
)
def test_a_list_of_what_is_known_already_is_no_material_of_its_own(message: str) -> None:
    assert read_cues(message).continuation


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("繼續", "继续"),
        ("就這麼辦", "就这么办"),
        ("然後呢？", "然后呢？"),
        ("謝謝", "谢谢"),
        ("還記得我說過什麼嗎", "还记得我说过什么吗"),
    ],
)
def test_traditional_characters_read_as_the_simplified_ones(traditional: str, simplified: str) -> None:
    assert judge(read_cues(traditional)) == judge(read_cues(simplified))
    assert judge(read_cues(traditional)).verdict is not Verdict.UNSURE
