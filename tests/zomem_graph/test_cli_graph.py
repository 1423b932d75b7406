"""The knowledge graph from the command line."""

import json
from pathlib import Path

import pytest

from .command_line import CommandLine


@pytest.fixture
def zomem(home: Path) -> CommandLine:
    line = CommandLine(home)
    batch = [
        {"entity": "project.ffb-site", "key": "name", "value": "FFB website redesign project"},
        {"entity": "decision.hosting", "key": None, "value": "Decided to use Zo hosting"},
        {"entity": "system.zo", "key": "infrastructure", "value": "Zo Computer infrastructure setup"},
    ]
    line.ok("remember", "--batch", "-", given=json.dumps(batch))
    line.ok(
        "graph", "link", "--source", "project.ffb-site", "--target", "decision.hosting", "--relation", "depends_on"
    )
    line.ok("graph", "link", "--source", "decision.hosting", "--target", "system.zo", "--weight", "0.5")
    return line


def test_the_forms_of_the_original_work(zomem: CommandLine) -> None:
    fact = zomem.json("lookup", "system.zo")[0]["id"]
    for words in (
        ["show", "--entity", "project.ffb-site"],
        ["show", "--id", fact],
        ["show", "--id", fact[:8]],
        ["find-connections", "--from", "project.ffb-site", "--to", "system.zo"],
        ["find-connections", "--from", "system.zo", "--to", "decision.hosting", "--max-depth", "3"],
        ["knowledge-gaps"],
        ["unlink", "--source", "decision.hosting", "--target", fact, "--relation", "related"],
        ["link", "--source", fact, "--target", "decision.hosting", "--relation", "depends_on", "--weight", "0.8"],
        ["unlink", "--source", fact, "--target", "decision.hosting"],
    ):
        assert zomem.ok("graph", *words)


def test_a_way_is_printed_with_arrows_and_strict_says_when_there_is_none(zomem: CommandLine) -> None:
    there = ["graph", "find-connections", "--from", "project.ffb-site", "--to", "system.zo"]
    assert zomem.ok(*there).splitlines() == [
        "Path found (2 hops):",
        "",
        '  [project.ffb-site.name] "FFB website redesign project"',
        "    -->depends_on",
        '  [decision.hosting] "Decided to use Zo hosting"',
        "    -->related",
        '  [system.zo.infrastructure] "Zo Computer infrastructure setup"',
    ]
    found = zomem.json(*there)
    assert (found["found"], found["hops"], len(found["things"]), len(found["links"])) == (True, 2, 3, 2)
    assert zomem(*there, "--strict").exit_code == 0
    assert zomem(*there, "--max-depth", "1").exit_code == 0
    assert zomem(*there, "--max-depth", "1", "--strict").exit_code == 1


def test_show_is_a_tree_with_each_link_once(zomem: CommandLine) -> None:
    lines = zomem.ok("graph", "show", "project.ffb-site", "--depth", "2").splitlines()
    assert [line.rpartition(" ")[0] for line in lines] == [
        '[project.ffb-site.name] "FFB website redesign project"',
        '  -->depends_on (1) [decision.hosting] "Decided to use Zo hosting"',
        '    -->related (0.5) [system.zo.infrastructure] "Zo Computer infrastructure setup"',
    ]
    document = zomem.json("graph", "show", "--entity", "decision.hosting")
    assert {link["relation"] for link in document["links"]} == {"depends_on", "related"}


def test_every_reading_command_answers_in_json_and_in_words(zomem: CommandLine) -> None:
    zomem.ok("graph", "link", "--source", "system.zo", "--target", "project.ffb-site", "--relation", "depends_on")
    zomem.ok("graph", "link", "--source", "decision.hosting", "--target", "system.zo", "--relation", "depends_on")
    for words, said in (
        (["knowledge-gaps"], "Connected components: 1"),
        (["ancestors", "project.ffb-site"], '  -->depends_on [decision.hosting] "Decided'),
        (["descendants", "system.zo"], "  -->required_by [decision.hosting]"),
        (["cycles"], "[decision.hosting] -->depends_on [system.zo] -->depends_on [project.ffb-site]"),
        (["communities", "--least", "2"], "1. 3 things around"),
        (["relations"], "depends_on\trequired_by\tdependency\tA needs B"),
        (["export", "--format", "mermaid"], "flowchart LR"),
    ):
        assert said in zomem.ok("graph", *words)
        assert zomem.json("graph", *words)
    assert zomem.json("graph", "articulation") == zomem.json("graph", "infer", "system.zo") == []
    assert "nothing" in zomem("graph", "articulation").stderr


def test_what_comes_up_together_is_linked_only_with_write(zomem: CommandLine) -> None:
    for text in ("Mara drew Project Heron.", "Project Heron needs Mara.", "It rained on Tuesday.", "I had tea."):
        zomem.ok("remember", "log", "note", text)
    for name in ("Mara", "Project Heron"):
        zomem.ok("remember", name, "status", "active")
    assert "Project Heron\t2\t0.50\t" in zomem.ok("graph", "infer", "Mara")
    before = zomem.json("stats")["links"]
    written = zomem.json("graph", "infer", "Mara", "--write")
    assert {one["other"]: one["written"] for one in written} == {"Project Heron": True, "log": True}
    assert zomem.json("stats")["links"] == before + 2


def test_a_picture_is_written_to_a_file_and_opens_without_a_network(zomem: CommandLine, tmp_path: Path) -> None:
    page = tmp_path / "site.html"
    said = zomem.ok("graph", "export", "--entity", "project.ffb-site", "--format", "html", "--output", str(page))
    assert said.startswith(f"wrote {page}")
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "Decided to use Zo hosting" in text
    assert zomem.ok("graph", "export").startswith("digraph memory_graph {")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show"], "must be given once"),
        (["show", "a", "--entity", "b"], "must be given once"),
        (["show", "project.ffbsite"], "Did you mean 'project.ffb-site'"),
        (["show", "project.ffb-site", "--depth", "0"], "--depth"),
        (["find-connections", "--from", "system.zo"], "--to"),
        (["find-connections", "--from", "system.zo", "--to", "nowhere"], "Nothing has the id 'nowhere'"),
        (["link", "--source", "system.zo", "--target", "system.zo"], "itself"),
        (["export", "--format", "png"], "Invalid value for '--format'"),
        (["export", "--output", "/nowhere/x.dot"], "/nowhere/x.dot cannot be written"),
        (["ancestors"], "WHAT"),
    ],
)
def test_wrong_use_ends_with_one_clear_line(arguments: list[str], said: str, zomem: CommandLine) -> None:
    result = zomem("graph", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_relation_is_noted_and_a_persona_sees_only_its_own(zomem: CommandLine) -> None:
    told = zomem("graph", "link", "--source", "system.zo", "--target", "decision.hosting", "--relation", "likes")
    assert (told.exit_code, "note: unknown relation 'likes' is kept" in told.stderr) == (0, True)
    zomem.ok("remember", "diary", "note", "of ann", "--persona", "ann")
    zomem.ok("graph", "link", "--source", "diary", "--target", "system.zo", "--persona", "ann")
    assert zomem("graph", "show", "diary").exit_code == 1
    assert "diary" not in zomem.ok("graph", "show", "system.zo")
    assert "diary" in zomem.ok("graph", "show", "system.zo", "--persona", "ann")
