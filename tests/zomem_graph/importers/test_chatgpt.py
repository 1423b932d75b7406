"""ChatGPT's export: the current branch is found, every kind of content read, and nothing lost silently."""

import json
import zipfile
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.importers.branches import TreeNode, current_branch
from zomem_graph.importers.chatgpt_content import said_in
from zomem_graph.importers.records import Passed, Talk

from .kit import chatgpt, node, passed, read, said, talk, talks, write


def export(folder: Path, *conversations: object) -> Path:
    return write(folder, "conversations.json", list(conversations))


def content(message: object) -> str:
    return said_in({"author": {"role": "tool", "name": "browser"}, "content": message}).text


def test_a_tree_without_child_lists_and_with_a_null_root_is_read(tmp_path: Path) -> None:
    nodes = {
        "b": node("Porto it is", "a", role="assistant", id="m2"),
        "root": node(None),
        "a": node("Where to?", "root", id="m1"),
    }
    found = read("chatgpt", export(tmp_path, chatgpt(nodes)))
    assert said(found) == [("user", "Where to?"), ("assistant", "Porto it is")]
    assert [message.message_id for message in talk(found).messages] == ["m1", "m2"]


def test_a_tree_with_child_lists_only_is_read(tmp_path: Path) -> None:
    nodes: dict[str, Any] = {"a": node("one"), "b": node("two", role="assistant")}
    nodes["a"]["children"] = ["b", 7]
    del nodes["a"]["parent"], nodes["b"]["parent"]
    assert [text for _role, text in said(read("chatgpt", export(tmp_path, chatgpt(nodes))))] == ["one", "two"]


BRANCHED = {
    "root": node(None),
    "q": node("Which city?", "root", create_time=1.0),
    "old": node("Lyon", "q", role="assistant", create_time=2.0),
    "new": node("Porto", "q", role="assistant", create_time=3.0),
    "older": node("Lyon again", "old", create_time=2.5),
}


@pytest.mark.parametrize(
    ("current", "answer"),
    [
        ("older", ["Which city?", "Lyon", "Lyon again"]),
        ("new", ["Which city?", "Porto"]),
        (None, ["Which city?", "Porto"]),
        ("gone", ["Which city?", "Porto"]),
        (7, ["Which city?", "Porto"]),
    ],
)
def test_the_current_branch_is_followed_else_the_newest_leaf(
    current: object, answer: list[str], tmp_path: Path
) -> None:
    found = read("chatgpt", export(tmp_path, chatgpt(BRANCHED, current_node=current)))
    assert [text for _role, text in said(found)] == answer
    assert talk(found).skipped["on another branch"] == 4 - len(answer)


def test_a_cycle_and_a_parent_that_is_gone_end_the_walk(tmp_path: Path) -> None:
    ring = {"a": node("one", "b"), "b": node("two", "a")}
    torn = {"a": node("three", "nowhere")}
    found = read("chatgpt", export(tmp_path, chatgpt(ring), chatgpt(torn, id="c2")))
    assert [len(each.messages) for each in talks(found)] == [2, 1]


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(st.none(), st.sampled_from("abcdefghxyz")), max_size=8),
    st.one_of(st.none(), st.sampled_from("abcdefghx")),
)
def test_any_tree_has_a_branch_in_which_each_node_answers_the_one_before(
    parents: dict[str, str | None], current: str | None
) -> None:
    branch = current_branch({name: TreeNode(parent) for name, parent in parents.items()}, current)
    assert bool(branch) == bool(parents)
    assert len(set(branch)) == len(branch)
    assert all(parents[after] == before for before, after in pairwise(branch))
    assert current not in parents or branch[-1] == current


def test_what_nobody_said_is_left_out_and_counted(tmp_path: Path) -> None:
    profile = {"content_type": "user_editable_context", "user_profile": "I am a nurse", "parts": ["I am"]}
    nodes = {
        "s": node("You are helpful", role="system"),
        "p": node(profile, "s"),
        "h": node("hidden words", "p", metadata={"is_visually_hidden_from_conversation": True}),
        "u": node("custom words", "h", metadata={"is_user_system_message": True}),
        "t": node({"content_type": "thoughts", "thoughts": [{"content": "hm"}]}, "u", role="assistant"),
        "e": node({"content_type": "text", "parts": [""]}, "t", role="assistant"),
        "n": node("who?", "e", role=""),
        "m": node("Hello", "n"),
    }
    found = read("chatgpt", export(tmp_path, chatgpt(nodes)))
    assert said(found) == [("user", "Hello")]
    assert dict(talk(found).skipped) == {
        "it is a system message": 1,
        "it is the user's profile, not something said": 2,
        "it is hidden": 1,
        "it is what the model thought": 1,
        "it is empty": 1,
        "nobody is named who said it": 1,
    }


def test_one_broken_conversation_leaves_the_others_whole(tmp_path: Path) -> None:
    good = chatgpt({"a": node("one")})
    broken: list[object] = [
        {"title": "no mapping", "mapping": "oops"},
        {"title": "empty", "mapping": {}},
        "not an object",
        {"title": "silent", "mapping": {"a": node(None)}},
        {"title": "odd", "mapping": {"a": 7, "b": {"message": "text"}, "c": {"message": {"content": 9}}}},
    ]
    found = read("chatgpt", export(tmp_path, good, *broken, chatgpt({"a": node("two")}, id="c9")))
    assert [each.messages[0].content for each in talks(found)] == ["one", "two"]
    assert passed(found) == {
        "no mapping": "number 2 of conversations.json has no mapping of messages",
        "empty": "it is empty",
        "number 4 of conversations.json": "is no object",
        "silent": "nothing was said in it",
        "odd": "nothing was said in it",
    }


@pytest.mark.parametrize("missing", [None, "soon", 1e30, -1e18, True, [], 0, "0001-01-01T00:00:00Z"])
def test_a_message_without_a_time_takes_the_one_before_it(missing: object, tmp_path: Path) -> None:
    nodes = {"a": node("one", create_time=missing), "b": node("two", "a", create_time=missing)}
    first, second = talk(read("chatgpt", export(tmp_path, chatgpt(nodes)))).messages
    assert first.at == datetime.fromtimestamp(1_700_000_000.5, UTC)
    assert second.at is not None
    assert second.at > first.at


def test_times_may_be_fractions_milliseconds_or_text(tmp_path: Path) -> None:
    times = [1_700_000_000.25, 1_700_000_000_250, "1700000000.25", "2023-11-14T22:13:20.25Z"]
    nodes = {str(n): node("x", str(n - 1), create_time=time) for n, time in enumerate(times)}
    found = talk(read("chatgpt", export(tmp_path, chatgpt(nodes))))
    assert {message.at for message in found.messages} == {datetime.fromtimestamp(1_700_000_000.25, UTC)}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content_type": "code", "language": "python", "text": "print(1)"}, "print(1)"),
        ({"content_type": "execution_output", "text": "1"}, "1"),
        ({"content_type": "tether_quote", "title": "T", "url": "u", "text": "quoted"}, "T\nu\nquoted"),
        ({"content_type": "tether_browsing_display", "result": "page", "summary": "s"}, "page\ns"),
        ({"content_type": "sonic_webpage", "title": "T", "snippet": "words"}, "T\nwords"),
        ({"content_type": "system_error", "name": "E", "text": "broke"}, "broke"),
        (
            {
                "content_type": "multimodal_text",
                "parts": ["see ", {"content_type": "image_asset_pointer", "asset_pointer": "file://x"}],
            },
            "see ",
        ),
        (
            {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "audio_transcription", "text": "spoken"}],
            },
            "spoken",
        ),
        ({"content_type": "something_new", "content": "words"}, "words"),
        ({"content_type": "something_new", "content": {"a": 1}}, '{"a": 1}'),
        ("plain", "plain"),
        ({"content_type": "text", "parts": "one"}, "one"),
        ({"content_type": "text", "parts": ["a \ue200cite\ue202turn0search0\ue201b"]}, "a b"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}, ""),
        (None, ""),
        (7, ""),
    ],
)
def test_every_kind_of_content_gives_its_words(message: object, text: str) -> None:
    assert content(message) == text


def test_pictures_without_words_are_counted_as_such() -> None:
    pictures = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}
    found = said_in({"author": {"role": "user"}, "content": pictures})
    assert found.reason == "it holds pictures or sound without words"


def test_tools_are_named_and_models_kept(tmp_path: Path) -> None:
    nodes = {
        "a": node("search", role="assistant", recipient="browser", metadata={"model_slug": "gpt-4"}),
        "b": node({"content_type": "tether_quote", "text": "found"}, "a", role="tool", name="browser"),
    }
    first, second = talk(read("chatgpt", export(tmp_path, chatgpt(nodes)))).messages
    assert first.metadata == {"model": "gpt-4", "recipient": "browser"}
    assert (second.role, second.speaker) == ("tool", "browser")


def test_a_zip_a_folder_and_a_single_conversation_are_read_alike(tmp_path: Path) -> None:
    conversation = chatgpt({"a": node("one")})
    folder = tmp_path / "export"
    write(folder, "conversations-000.json", [conversation])
    write(folder, "user.json", {"id": "u"})
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation]))
        archive.writestr("chat.html", "<html>")
    single = write(tmp_path, "one.json", conversation)
    wrapped = write(tmp_path, "wrapped.json", {"version": 1, "conversations": [conversation]})
    assert {said(read("chatgpt", path))[0] for path in (folder, packed, single, wrapped)} == {("user", "one")}


def test_a_file_that_breaks_off_keeps_what_came_before(tmp_path: Path) -> None:
    whole = json.dumps([chatgpt({"a": node("one")}), chatgpt({"a": node("two")}, id="c2")])
    found = read("chatgpt", write(tmp_path, "conversations.json", whole[:-30]))
    assert [type(each) for each in found] == [Talk, Passed]
    assert "the 1 before it were read" in passed(found)["conversations.json"]


@pytest.mark.parametrize("given", ["", "   ", "no json", "[NaN]", "[" * 100_000, '{"a": [}'])
def test_what_is_no_json_is_told_and_not_raised(given: str, tmp_path: Path) -> None:
    found = read("chatgpt", write(tmp_path, "conversations.json", given))
    assert found
    assert all(isinstance(each, Passed) and each.outcome == "failed" for each in found)


def test_a_conversation_without_an_id_gets_the_same_one_each_time(tmp_path: Path) -> None:
    conversation = chatgpt({"a": node("one")})
    del conversation["id"]
    path = export(tmp_path, conversation)
    assert talk(read("chatgpt", path)).id == talk(read("chatgpt", path)).id


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["author", "role", "content", "parts", "content_type", "create_time", "metadata", "id", "text"]
)


@given(st.dictionaries(FIELDS, st.dictionaries(FIELDS, JSON, max_size=3) | JSON, max_size=6))
def test_any_message_is_read_or_gets_a_reason(message: dict[str, Any]) -> None:
    found = said_in(message)
    assert bool(found.text.strip()) != bool(found.reason)
