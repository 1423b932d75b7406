"""Conversations are read in every accepted form, and everything else is refused with a reason."""

import contextlib
import io
import json
import os
import re
import time
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph import Memory
from zomem_graph.conversations import ACCEPTED_FORMS, Conversation, Session, read_conversation
from zomem_graph.demo import bundled_conversation
from zomem_graph.stores.errors import InvalidInput


def said(conversation: Conversation) -> list[tuple[str, str | None, str]]:
    return [(message.role, message.name, message.content) for message in conversation.messages]


def ids(conversation: Conversation) -> list[str]:
    return [message.id for message in conversation.messages]


# Text and Markdown


def test_a_named_speaker_is_a_user_and_an_assistant_is_not() -> None:
    conversation = read_conversation("Ana: hello\nAssistant: hi\nBOT: beep\nai: yes\nUser: bye\n")

    assert said(conversation) == [
        ("user", "Ana", "hello"),
        ("assistant", None, "hi"),
        ("assistant", None, "beep"),
        ("assistant", None, "yes"),
        ("user", None, "bye"),
    ]
    assert ids(conversation) == ["s1:1", "s1:2", "s1:3", "s1:4", "s1:5"]


@pytest.mark.parametrize("line", ["**Ana:** hello", "**Ana**: hello", "__Ana:__ hello", "Ana: hello", "Ana： hello"])
def test_a_speaker_may_be_set_in_bold(line: str) -> None:
    assert said(read_conversation(f"{line}\n")) == [("user", "Ana", "hello")]


def test_lines_without_a_speaker_belong_to_the_message_before_them() -> None:
    conversation = read_conversation("Ana: one\ntwo\n\n- three\n\nAssistant: four\n")

    assert [message.content for message in conversation.messages] == ["one\ntwo\n\n- three", "four"]


def test_a_word_with_a_colon_is_no_speaker() -> None:
    answer = "Do this.\nNote: careful\nSee https://x.example\nThe plan is: go"
    text = f"Ana: hi\n\nBot: {answer}\n\nAna: ok\n\nBot: fine\n"

    assert [message.content for message in read_conversation(text).messages] == [
        "hi",
        answer,
        "ok",
        "fine",
    ]


def test_a_label_set_unlike_the_speakers_is_part_of_the_answer() -> None:
    text = "**Ana:** soup?\n**Bot:** Sure.\nVegetables: two leeks\n**Ana:** thanks\n"

    assert len(list(read_conversation(text).messages)) == 3


def test_nobody_speaks_inside_a_code_fence() -> None:
    text = "Ana: show me\nBot: here\n```yaml\nAna: a key\n---\nBot: another\n```\nAna: thanks\n"

    assert [message.name for message in read_conversation(text).messages] == ["Ana", None, "Ana"]


def test_headings_and_rules_with_dates_begin_sessions() -> None:
    conversation = read_conversation(
        "# Trips\n\n## Session 1, 3 May 2026\nAna: one\n\n--- 2026-05-09 18:30 ---\nAna: two\n\n"
        "---\n\nMonday, 11 May 2026\n\nAna: three\nBot: four\n"
    )

    assert conversation.title == "Trips"
    assert [session.at for session in conversation.sessions] == [
        datetime(2026, 5, 3, tzinfo=UTC),
        datetime(2026, 5, 9, 18, 30, tzinfo=UTC),
        datetime(2026, 5, 11, tzinfo=UTC),
    ]
    assert ids(conversation) == ["s1:1", "s2:1", "s3:1", "s3:2"]


def test_a_bare_rule_between_messages_begins_a_session_and_one_inside_an_answer_does_not() -> None:
    conversation = read_conversation("Ana: a\nBot: b\n\n---\n\nmore of b\n\n---\n\nAna: c\nBot: d\n")

    assert [len(session.messages) for session in conversation.sessions] == [2, 2]
    assert conversation.sessions[0].messages[1].content == "b\n\n---\n\nmore of b"


def test_headings_inside_an_answer_stay_in_it() -> None:
    answer = "Gladly.\n\n## Day 1: Munich\n\nWalk.\n\n## Day 2, 4 May 2026\n\nRest."

    assert said(read_conversation(f"Ana: plan?\n\nBot: {answer}\n\nAna: lovely\n")) == [
        ("user", "Ana", "plan?"),
        ("assistant", None, answer),
        ("user", "Ana", "lovely"),
    ]


def test_a_rule_after_every_message_is_only_decoration() -> None:
    conversation = read_conversation("Ana: a\n\n---\n\nBot: b\n\n* * *\n\nAna: c\n")

    assert ids(conversation) == ["s1:1", "s1:2", "s1:3"]


def test_headings_that_are_role_words_open_messages() -> None:
    assert said(read_conversation("# Chat\n\n## User\n\nhello\n\n## Assistant\n\nhi\n\n## Details\n\nmore\n")) == [
        ("user", None, "hello"),
        ("assistant", None, "hi\n\n## Details\n\nmore"),
    ]


def test_times_beside_a_name_are_read() -> None:
    conversation = read_conversation(
        "## 2026-05-09\n[2026-05-09 18:30] Ana: a\nBot (2026-05-09T18:31:05Z): b\nAna [6:40 pm]: c\nBot: d\n"
    )

    assert [message.at for message in conversation.messages] == [
        datetime(2026, 5, 9, 18, 30, tzinfo=UTC),
        datetime(2026, 5, 9, 18, 31, 5, tzinfo=UTC),
        datetime(2026, 5, 9, 18, 40, tzinfo=UTC),
        datetime(2026, 5, 9, tzinfo=UTC),
    ]


def test_front_matter_gives_title_and_date() -> None:
    conversation = read_conversation("---\ntitle: Boats\ndate: 2026-02-03\ntags:\n  - sea\n---\nAna: ahoy\n")

    assert (conversation.title, conversation.sessions[0].at) == ("Boats", datetime(2026, 2, 3, tzinfo=UTC))
    assert said(conversation) == [("user", "Ana", "ahoy")]


def test_what_stands_before_the_first_speaker_is_listed_as_skipped() -> None:
    assert read_conversation("exported by an app\n\nAna: hi\nBot:\nAna: ok\n").skipped == (
        "line 1: exported by an app",
        "message s1:2: Bot says nothing",
    )


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    text = "Ana: one\r\ntwo\r\nBot: three\r\n"
    for encoding in ("utf-8-sig", "utf-16"):
        file = tmp_path / f"{encoding}.txt"
        file.write_bytes(text.encode(encoding))
        assert said(read_conversation(file)) == [("user", "Ana", "one\ntwo"), ("assistant", None, "three")]


# JSON


def test_a_json_list_of_messages_is_read() -> None:
    conversation = read_conversation(
        json.dumps(
            [
                {"role": "user", "content": "hi", "name": "Ana", "at": "2026-05-09T18:30:00+02:00"},
                {"role": "ai", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"name": "Bob", "content": "me too", "at": 0},
                {"role": "assistant", "content": None},
                {"role": "user", "content": ["see", {"type": "image_url", "image_url": "x"}]},
            ]
        )
    )

    assert said(conversation) == [
        ("user", "Ana", "hi"),
        ("assistant", None, "one\ntwo"),
        ("user", "Bob", "me too"),
        ("user", None, "see"),
    ]
    assert [message.at for message in conversation.messages] == [
        datetime(2026, 5, 9, 18, 30, tzinfo=timezone(timedelta(hours=2))),
        None,
        datetime(1970, 1, 1, tzinfo=UTC),
        None,
    ]
    assert conversation.skipped == ("message s1:4: no text", "message s1:5: image_url without text")
    assert ids(conversation)[-1] == "s1:5"


def test_our_own_form_keeps_sessions_ids_and_questions() -> None:
    conversation = read_conversation(
        json.dumps(
            {
                "title": "T",
                "sessions": [{"id": "mon", "at": "2026-05-04", "messages": [{"role": "Ana", "content": "tea"}]}],
                "questions": [{"question": "What?", "answer": "tea", "evidence": ["mon:1"], "kind": "fact"}],
            }
        )
    )

    assert (conversation.title, ids(conversation)) == ("T", ["mon:1"])
    assert next(conversation.messages).at == datetime(2026, 5, 4, tzinfo=UTC)
    assert conversation.questions[0].evidence == ("mon:1",)


def test_an_object_with_messages_is_one_session() -> None:
    document = {"title": "T", "messages": [{"role": "user", "content": "hi"}]}

    assert ids(read_conversation(json.dumps(document))) == ["s1:1"]


# Sources


def test_a_path_a_string_and_a_stream_read_the_same(tmp_path: Path) -> None:
    text = "Ana: hello\nBot: hi ✓\n"
    file = tmp_path / "chat.md"
    file.write_text(text, encoding="utf-8")

    expected = said(read_conversation(text))
    assert said(read_conversation(file)) == expected
    assert said(read_conversation(str(file))) == expected
    assert said(read_conversation(io.StringIO(text))) == expected
    assert said(read_conversation(io.BytesIO(text.encode()))) == expected
    assert said(read_conversation(io.TextIOWrapper(io.BytesIO(text.encode()), encoding="ascii"))) == expected


def test_one_line_is_a_text_when_it_names_no_file() -> None:
    assert said(read_conversation("Ana: hello")) == [("user", "Ana", "hello")]


def test_a_file_without_a_title_is_called_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "spring.txt"
    file.write_text("Ana: hello\n")

    assert read_conversation(file).title == "spring"


# Bad input


@pytest.mark.parametrize(
    ("name", "raw", "found"),
    [
        ("empty.txt", b"", "is empty"),
        ("blank.json", b"\xef\xbb\xbf \r\n", "is empty"),
        ("prose.md", b"Once upon a time.\n", "has no line of the form"),
        ("prose.json", b"Once upon a time.\n", "is broken JSON"),
        ("broken.json", b'[{"role": "user", ', "is broken JSON"),
        ("half.txt", b'{"messages": [', "is broken JSON"),
        ("deep.json", b"[" * 200_000, "is JSON nested too deeply"),
        ("digits.json", b"[" + b"9" * 5000 + b"]", "is broken JSON"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00", "is binary or in another encoding"),
        ("zero.txt", b"Ana: hi\0\n", "is binary (a zero byte at 7)"),
        ("latin.txt", "Ana: café\n".encode("latin-1"), "another encoding than UTF-8 (byte 0xe9 at 8)"),
        ("number.json", b"42", "it is a number"),
        ("null.json", b"null", "it is null"),
        ("list.json", b"[]", "holds no messages"),
        ("strings.json", b'["hello"]', "has a message that is a text"),
        ("shape.json", b'{"chat": 1, "user": 2}', "of an unknown shape (keys 'chat', 'user')"),
        ("many.json", b'[{"conversation": {}}, {"conversation": {}}]', "is a list of 2 objects"),
        ("nameless.json", b'[{"content": "hi"}]', "neither role nor name (message s1:1)"),
        ("silent.json", b'[{"role": "user"}]', "without content (message s1:1)"),
        ("content.json", b'[{"role": "user", "content": 3}]', "content that is a number"),
        ("time.json", b'[{"role": "user", "content": "x", "at": "soon"}]', "cannot be read: 'soon'"),
        ("nan.json", b'[{"role": "user", "content": "x", "at": NaN}]', "cannot be read: 'nan'"),
        ("far.json", b'[{"role": "user", "content": "x", "at": 1e30}]', "cannot be read"),
        (
            "twice.json",
            b'[{"role": "u", "content": "x", "id": "a"}, {"role": "u", "content": "y", "id": "a"}]',
            "'a'",
        ),
        ("session.json", b'{"sessions": [3]}', "a session without a list of messages"),
        (
            "qa.json",
            b'{"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "x"}], "qa": 1}',
            "has a qa that",
        ),
        ("turn.json", b'{"session_1": [{"speaker": "A"}]}', "without speaker and dia_id (session_1, turn 1)"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_was_found(tmp_path: Path, name: str, raw: bytes, found: str) -> None:
    file = tmp_path / name
    file.write_bytes(raw)

    with pytest.raises(InvalidInput, match=re.escape(found)) as caught:
        read_conversation(file)
    assert str(file) in str(caught.value)
    assert ACCEPTED_FORMS in str(caught.value)


def test_a_question_must_name_its_evidence() -> None:
    document = {
        "sessions": [{"messages": [{"role": "user", "content": "x"}]}],
        "questions": [{"question": "?", "evidence": ["s1:2"]}],
    }

    with pytest.raises(InvalidInput, match="question 1 whose evidence 's1:2' names no message"):
        read_conversation(json.dumps(document))


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no file"):
        read_conversation(str(tmp_path / "nowhere.txt"))
    with pytest.raises(InvalidInput, match="is a folder"):
        read_conversation(tmp_path)
    with pytest.raises(InvalidInput, match="The given text is empty"):
        read_conversation("")


@given(st.text(), st.binary())
def test_any_text_or_bytes_are_read_or_refused_clearly(text: str, raw: bytes) -> None:
    for source in (io.StringIO(text), io.BytesIO(raw), io.StringIO(f"Ana: {text}")):
        try:
            conversation = read_conversation(source)
        except InvalidInput:
            continue
        assert all(message.content for message in conversation.messages)


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "Zs"]), min_size=1), min_size=1))
def test_nothing_that_was_said_is_lost(contents: list[str]) -> None:
    text = "".join(f"Ana: {content}\n\nBot: ok\n\n" for content in contents)
    kept = [message.content for message in read_conversation(text).messages if message.role == "user"]

    assert [content.strip() for content in kept] == [content.strip() for content in contents if content.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "---\n" * 100_000,
        "Ana: x\n" + "---\n\n" * 80_000,
        "Ana: " + "x : ~~~ " * 200_000,
        "# " + " " * 2_000_000 + "\n",
    ],
)
def test_long_monotonous_files_are_read_in_seconds(text: str) -> None:
    started = time.monotonic()
    with contextlib.suppress(InvalidInput):
        read_conversation(io.StringIO(text))
    assert time.monotonic() - started < 10


# LoCoMo


@pytest.fixture(scope="module")
def locomo() -> dict[str, Conversation]:
    root = os.environ.get("ZOMEM_EVAL_DATA")
    folder = Path(root) if root else Path(__file__).parents[3] / "shared" / "data"
    files = sorted((folder / "locomo").glob("conv-*.json"))
    if not files and root:
        pytest.fail(f"ZOMEM_EVAL_DATA is {root}, but there is no locomo/conv-*.json in it")
    if not files:
        pytest.skip("the evaluation set LoCoMo is not here; set ZOMEM_EVAL_DATA to its folder")
    return {file.stem: read_conversation(file) for file in files}


def test_locomo_is_read_whole(locomo: dict[str, Conversation]) -> None:
    sessions = [session for conversation in locomo.values() for session in conversation.sessions]
    questions = [question for conversation in locomo.values() for question in conversation.questions]

    assert len(sessions) == 192
    assert sum(len(session.messages) for session in sessions) == 4170
    assert len(questions) == 1446
    assert sum(question.kind == "adversarial" for question in questions) == 317
    assert sum(bool(question.evidence) and question.kind != "adversarial" for question in questions) == 1125


def test_locomo_turns_keep_their_ids_speakers_pictures_and_times(locomo: dict[str, Conversation]) -> None:
    conversation = locomo["conv-26"]
    first = conversation.sessions[0]

    assert (conversation.title, first.id, first.at) == (
        "conv-26",
        "D1",
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    )
    assert first.messages[0].id == "D1:1"
    assert {(message.role, message.name) for message in conversation.messages} == {
        ("user", "Caroline"),
        ("user", "Melanie"),
    }
    assert sum("[shared a picture: " in message.content for message in conversation.messages) == 116


def test_locomo_sessions_are_in_order(locomo: dict[str, Conversation]) -> None:
    for conversation in locomo.values():
        times = [session.at for session in conversation.sessions if session.at]
        assert len(times) == len(conversation.sessions)
        assert times == sorted(times)


@pytest.mark.parametrize(
    ("name", "number", "evidence"),
    [
        ("conv-26", 37, ("D8:6", "D9:17")),
        ("conv-42", 88, ("D1:18", "D1:20")),
        ("conv-49", 31, ("D9:1", "D4:4", "D4:6")),
        ("conv-47", 38, ("D18:1", "D18:7")),
        ("conv-50", 69, ("D30:5",)),
    ],
)
def test_malformed_locomo_evidence_is_mended(
    locomo: dict[str, Conversation], name: str, number: int, evidence: tuple[str, ...]
) -> None:
    assert locomo[name].questions[number].evidence == evidence


def test_a_small_conversation_in_locomo_form_needs_no_questions() -> None:
    document = {
        "speaker_a": "Ana",
        "speaker_b": "AI",
        "session_10": [{"speaker": "AI", "dia_id": "D10:1", "text": "late"}],
        "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "", "blip_caption": "a boat"}],
        "session_2_date_time": "12:09 am on 1 June, 2024",
        "session_3_date_time": "9:00 am on 2 June, 2024",
    }
    conversation = read_conversation(json.dumps(document))

    assert said(conversation) == [("user", "Ana", "[shared a picture: a boat]"), ("assistant", None, "late")]
    assert [session.at for session in conversation.sessions] == [datetime(2024, 6, 1, 0, 9, tzinfo=UTC), None]
    assert conversation.title == "Ana and AI"


# The bundled conversation

# Words that carry no meaning of their own in the bundled answers.
_SMALL_WORDS = frozenset("a an and any at from in inside more no not of on rather than the to two with".split())


@pytest.fixture(scope="module")
def bundled() -> Conversation:
    return bundled_conversation()


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def test_the_bundled_conversation_is_long_enough_to_forget(bundled: Conversation) -> None:
    starts = [session.at for session in bundled.sessions if session.at]

    assert len(list(bundled.messages)) >= 150
    assert len(starts) == len(bundled.sessions) >= 8
    assert starts[-1] - starts[0] > timedelta(days=120)
    assert {(message.role, message.name) for message in bundled.messages} == {
        ("user", "Maren"),
        ("assistant", None),
    }
    assert bundled.skipped == ()


def test_the_bundled_messages_follow_each_other_in_time(bundled: Conversation) -> None:
    times = [message.at for message in bundled.messages if message.at]

    assert len(times) == len(list(bundled.messages))
    assert all(earlier < later for earlier, later in pairwise(times))


def test_the_bundled_questions_cover_every_kind(bundled: Conversation) -> None:
    kinds = [question.kind for question in bundled.questions]

    assert len(bundled.questions) == 30
    assert kinds.count("changed") >= 4
    assert kinds.count("paraphrase") >= 5
    assert kinds.count("multi") == 3
    assert {"fact", "preference", "date"} < set(kinds)
    assert sum(not question.needs_memory for question in bundled.questions) == kinds.count("chitchat") == 5


def test_the_bundled_answers_stand_in_their_evidence(bundled: Conversation) -> None:
    content = {message.id: message.content for message in bundled.messages}
    for question in bundled.questions:
        evidence = words(" ".join(content[turn_id] for turn_id in question.evidence))
        assert bool(question.evidence) is question.needs_memory
        assert words(question.answer or "") - _SMALL_WORDS <= evidence, question.text


def test_the_bundled_old_values_were_said_before_the_new_ones(bundled: Conversation) -> None:
    order = ids(bundled)
    for question in bundled.questions:
        for value in question.stale:
            told = [order.index(message.id) for message in bundled.messages if value in message.content]
            assert told, value
            assert max(told) < min(order.index(turn_id) for turn_id in question.evidence), value
        assert bool(question.stale) is (question.kind == "changed")


def test_the_bundled_paraphrases_share_hardly_a_word_with_their_evidence(bundled: Conversation) -> None:
    content = {message.id: message.content for message in bundled.messages}
    for question in bundled.questions:
        if question.kind == "paraphrase":
            evidence = words(" ".join(content[turn_id] for turn_id in question.evidence))
            shared = {word for word in words(question.text) & evidence if len(word) > 4}
            assert len(shared) <= 1, (question.text, shared)


def test_the_speakers_of_the_bundled_conversation_take_turns(bundled: Conversation) -> None:
    def roles(session: Session) -> list[str]:
        return [message.role for message in session.messages]

    assert all(one != other for s in bundled.sessions for one, other in pairwise(roles(s)))


BRACKETED = [
    "[todo] My sister lives in Rome",
    "[link](http://x) is what I use.",
    "{not json at all} I live in Rome",
    "[] I live in Rome",
    "[10:30] I live in Rome",
    '["quoted"] I live in Rome',
    "[1] is a footnote\nand this is the next line",
    "[[Ana]] lives in Rome",
]


@pytest.mark.parametrize("text", BRACKETED)
def test_prose_that_begins_with_a_bracket_is_what_the_user_said(home: Path, text: str) -> None:
    with Memory.open(home, embeddings="none") as memory:
        report = memory.capture(text)
        with memory.stores.read() as unit:
            turns = unit.turns.find(report.turn_ids)

    assert [(turn.role, turn.content) for turn in turns] == [("user", text)]


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "I live in',
        '{"messages": [{"role": "user", "content": "x"}',
        '[{"role": "user", "content": "x"}] and more',
        "[{'role': 'user', 'content': 'x'}]",
        '\ufeff \n[ [ { "role": ',
        "{} I live in Rome",
    ],
)
def test_json_that_is_broken_is_refused_and_not_kept_as_prose(home: Path, text: str) -> None:
    with Memory.open(home, embeddings="none") as memory:
        with pytest.raises(InvalidInput, match="is broken JSON"):
            memory.capture(text)
        assert memory.stats()["turns"] == 0
