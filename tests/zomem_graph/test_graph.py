"""The knowledge graph: what is tied to what, walked and measured within one's reach."""

import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from zomem_graph import Memory, Scope
from zomem_graph.nodes.rules.graph import Connection, Neighbourhood
from zomem_graph.nodes.rules.graph_text import connection_lines, cycle_line, gap_lines
from zomem_graph.stores.errors import InvalidInput, UnknownName
from zomem_graph.stores.records import Fact
from zomem_graph.testing import FixedClock

ANN, BOB = Scope(persona="ann"), Scope(persona="bob")


@pytest.fixture
def memory(home: Path, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(home, embeddings="none", clock=clock) as opened:
        yield opened


@pytest.fixture
def site(memory: Memory) -> dict[str, Fact]:
    """The facts of the original's page, tied as its output shows them."""
    facts = {
        "site": memory.remember("project.ffb-site", "name", "FFB website redesign project"),
        "hosting": memory.remember("decision.hosting", None, "Decided to use Zo hosting"),
        "zo": memory.remember("system.zo", "infrastructure", "Zo Computer infrastructure setup"),
        "api": memory.remember("project.ffb-api", None, "FFB API integration"),
        "alone": memory.remember("project.ffb-site", "status", "in review"),
    }
    memory.graph.link(facts["site"].id, facts["hosting"].id, "depends_on", 0.8)
    memory.graph.link(facts["hosting"].id, facts["zo"].id)
    memory.graph.link(facts["site"].id, facts["api"].id, "contains")
    return facts


def arrows(around: Neighbourhood) -> list[tuple[str, str, str]]:
    labels = {thing.id: thing.label for thing in around.things}
    return [(labels[link.source_id], link.relation, labels[link.target_id]) for link in around.links]


def chain(memory: Memory, *names: str, relation: str = "depends_on") -> list[Fact]:
    """Store one fact a name and tie each to the next."""
    facts = [memory.remember(name, "note", f"about {name}") for name in names]
    for source, target in pairwise(facts):
        memory.graph.link(source.id, target.id, relation)
    return facts


# -- link, unlink, show --------------------------------------------------------------------------------------


def test_a_thing_is_named_by_id_by_its_first_characters_by_entity_or_by_entity_and_key(
    memory: Memory, site: dict[str, Fact]
) -> None:
    for name in (site["zo"].id, site["zo"].id[:8], "system.zo", "System.Zo", "system.zo.infrastructure"):
        assert [thing.id for thing in memory.graph.show(name).centre] == [site["zo"].id]
    assert len(memory.graph.show("project.ffb-site").centre) == 2

    memory.graph.link("project.ffb-api", "system.zo.infrastructure", "depends_on")
    assert memory.graph.unlink(site["api"].id[:6], "system.zo") == 1


def test_links_out_come_before_links_in_and_heavy_ones_first(memory: Memory, site: dict[str, Fact]) -> None:
    memory.graph.link("system.zo", "decision.hosting", "implements", 3.0)
    memory.graph.link("decision.hosting", "project.ffb-api", "causes", 2.0)

    around = memory.graph.show("decision.hosting")

    assert [link.relation for link in around.outbound] == ["causes", "related"]
    assert [link.relation for link in around.inbound] == ["implements", "depends_on"]
    assert {thing.label for thing in around.things} == {
        *("decision.hosting", "system.zo.infrastructure", "project.ffb-api", "project.ffb-site.name"),
    }


def test_the_same_triple_is_replaced_and_one_relation_or_all_can_go(memory: Memory, site: dict[str, Fact]) -> None:
    memory.graph.link("system.zo", "project.ffb-api", "blocks", 0.2)
    memory.graph.link("system.zo", "project.ffb-api", "blocks", 0.9)
    memory.graph.link("system.zo", "project.ffb-api", "causes")
    assert [link.weight for link in memory.graph.show("project.ffb-api").inbound if link.relation == "blocks"] == [
        0.9
    ]
    assert memory.graph.unlink("system.zo", "project.ffb-api", "blocks") == 1
    assert memory.graph.unlink("system.zo", "project.ffb-api") == 1
    with pytest.raises(UnknownName, match="no link"):
        memory.graph.unlink("system.zo", "project.ffb-api")


def test_an_unknown_relation_is_kept_with_a_warning_that_says_what_was_meant(
    memory: Memory, site: dict[str, Fact]
) -> None:
    with pytest.warns(UserWarning, match=r"unknown relation 'depend-on' is kept\. Did you mean depends_on"):
        memory.graph.link("system.zo", "project.ffb-api", "depend-on")
    assert ("system.zo.infrastructure", "depend-on", "project.ffb-api") in arrows(memory.graph.show("system.zo"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for relation in memory.graph.relations:
            memory.graph.link("system.zo", "project.ffb-api", relation)


def test_every_published_relation_has_an_inverse_that_means_the_same_the_other_way(memory: Memory) -> None:
    known = memory.graph.relations
    for one in known.values():
        back = known[one.inverse]
        assert back.inverse == one.name
        assert (one.up is None) == (back.up is None)
        assert one.up is None or one.up != back.up
        assert one.directed or one.up is None


def test_what_cannot_be_linked_is_refused_and_nothing_changes(memory: Memory, site: dict[str, Fact]) -> None:
    before = memory.stats()["links"]
    with pytest.raises(InvalidInput, match="itself"):
        memory.graph.link("system.zo", site["zo"].id)
    with pytest.raises(UnknownName, match=r"Did you mean 'system.zo'"):
        memory.graph.link("sytem.zo", "decision.hosting")
    with pytest.raises(InvalidInput, match=r"has 2 facts.*project\.ffb-site\.name.*project\.ffb-site\.status"):
        memory.graph.link("project.ffb-site", "system.zo")
    with pytest.raises(InvalidInput, match="weight"):
        memory.graph.link("nobody", "system.zo", weight=-1)
    for name in ("", "  ", "x" * 1_001):
        with pytest.raises(InvalidInput):
            memory.graph.show(name)
    assert memory.stats()["links"] == before


def test_a_neighbourhood_stays_within_what_was_asked_and_says_what_it_left_out(memory: Memory) -> None:
    hub = memory.remember("hub", "note", "in the middle")
    for number in range(30):
        spoke = memory.remember(f"spoke {number}", "note", "outside")
        memory.graph.link(hub.id, spoke.id, weight=float(number))

    around = memory.graph.show("hub", most=11)

    assert (len(around.things), len(around.links), around.left_out) == (11, 10, 20)
    assert min(link.weight for link in around.links) == 20.0


def test_many_links_are_made_together_or_not_at_all(memory: Memory) -> None:
    ids = [memory.remember(name, "note", name).id for name in "abcd"]
    pairs = [{"source_id": one, "target_id": two, "relation": "part_of"} for one, two in pairwise(ids)]
    assert len(memory.graph.link_many(pairs)) == memory.stats()["links"] == 3
    for wrong in (
        {"source_id": ids[0], "target_id": "nobody"},
        {"source_id": ids[0], "target_id": ids[0]},
        {"source_id": ids[0]},
        {"source_id": ids[0], "target_id": ids[3], "weight": "heavy"},
        {"source_id": ids[0], "target_id": 7},
        {"source_id": ids[0], "target_id": ids[3], "colour": "red"},
    ):
        with pytest.raises(InvalidInput):
            memory.graph.link_many([{"source_id": ids[0], "target_id": ids[2]}, wrong])
    with pytest.raises(UnknownName):
        memory.graph.link_many(
            [{"source_id": memory.remember("e", "f", "g", persona="bob").id, "target_id": ids[0]}], scope=ANN
        )
    assert memory.stats()["links"] == 3


# -- ways -----------------------------------------------------------------------------------------------------


def test_a_way_is_told_with_arrows_as_the_original_did(memory: Memory, site: dict[str, Fact]) -> None:
    found = memory.graph.find_connections("project.ffb-site", "system.zo")

    assert list(connection_lines(found)) == [
        "Path found (2 hops):",
        "",
        '  [project.ffb-site.name] "FFB website redesign project"',
        "    -->depends_on",
        '  [decision.hosting] "Decided to use Zo hosting"',
        "    -->related",
        '  [system.zo.infrastructure] "Zo Computer infrastructure setup"',
    ]
    back = list(connection_lines(memory.graph.find_connections("system.zo", "project.ffb-site")))
    assert [line.strip() for line in back if "--" in line] == ["<--related--", "<--depends_on--"]


def test_the_shortest_way_is_taken_and_the_depth_is_kept(memory: Memory) -> None:
    facts = chain(memory, *"abcdef")
    assert memory.graph.find_connections("a", "f").hops == 5
    assert memory.graph.find_connections("a", "f", max_depth=4).found is False
    memory.graph.link(facts[5].id, facts[1].id, "causes")
    assert memory.graph.find_connections("a", "f", max_depth=4).hops == 2


def test_one_entity_is_no_hop_away_from_itself(memory: Memory, site: dict[str, Fact]) -> None:
    found = memory.graph.find_connections("system.zo", "system.zo", max_depth=0)
    assert (found.hops, [thing.id for thing in found.things]) == (0, [site["zo"].id])
    assert next(connection_lines(found)) == "Path found (0 hops):"


def test_where_there_is_no_way_the_links_of_both_ends_are_counted(memory: Memory, site: dict[str, Fact]) -> None:
    memory.remember("island", "note", "far out")
    found: Connection = memory.graph.find_connections("island", "decision.hosting")
    assert (found.found, found.hops, dict(found.direct)) == (False, None, {"island": 0, "decision.hosting": 2})
    assert list(connection_lines(found)) == [
        'No path found from "island" to "decision.hosting" within 5 hops.',
        "  island: 0 direct links",
        "  decision.hosting: 2 direct links",
    ]
    with pytest.raises(UnknownName, match=r"Did you mean 'decision.hosting'"):
        memory.graph.find_connections("island", "decision.hostings")


# -- gaps -----------------------------------------------------------------------------------------------------


def test_every_section_of_the_gap_analysis_is_there(memory: Memory, site: dict[str, Fact]) -> None:
    for source, target in (("team.a", "team.b"), ("team.c", "team.b")):
        for name in (source, target):
            memory.remember(name, None, f"about {name}")
        memory.graph.link(source, target)

    assert list(gap_lines(memory.graph.knowledge_gaps())) == [
        "Knowledge Gap Analysis",
        "======================",
        "Total facts: 8",
        "Linked facts: 7 (87.5%)",
        "Orphan facts: 1 (12.5%)",
        "",
        "Dead ends (targets only, never source):",
        '  - [team.b] "about team.b" (2 inbound, 0 outbound)',
        '  - [system.zo.infrastructure] "Zo Computer infrastructure setup" (1 inbound, 0 outbound)',
        '  - [project.ffb-api] "FFB API integration" (1 inbound, 0 outbound)',
        "",
        "Weakly linked (only 1 connection):",
        '  - [system.zo.infrastructure] "Zo Computer infrastructure setup" (1 link)',
        '  - [project.ffb-api] "FFB API integration" (1 link)',
        '  - [team.a] "about team.a" (1 link)',
        '  - [team.c] "about team.c" (1 link)',
        "",
        "Connected components: 2",
        "  Cluster 1 (4 facts): hub = [project.ffb-site] (2 links)",
        "  Cluster 2 (3 facts): hub = [team.b] (2 links)",
        "",
        "Suggested: 1 orphan fact shares entities with linked facts and could be connected.",
    ]


def test_one_neighbour_by_several_relations_is_one_connection(memory: Memory) -> None:
    for name in ("team.a", "team.b"):
        memory.remember(name, None, f"about {name}")
    for relation in ("related", "depends_on", "part_of"):
        memory.graph.link("team.a", "team.b", relation)
    assert '  - [team.a] "about team.a" (3 links to one neighbour)' in list(gap_lines(memory.graph.knowledge_gaps()))


def test_an_empty_graph_has_no_gaps_and_says_so(memory: Memory) -> None:
    gaps = memory.graph.knowledge_gaps()
    lines = list(gap_lines(gaps))
    assert (gaps.total, gaps.orphan_count, gaps.linked_share) == (0, 0, 0.0)
    assert "Linked facts: 0 (0.0%)" in lines
    assert "Orphan facts: 0 (0.0%)" in lines
    assert lines[-1].startswith("Suggested: 0 orphan facts share")
    graph = memory.graph
    assert [graph.cycles(), graph.articulation_points(), graph.communities(), graph.infer("nobody")] == [()] * 4
    with pytest.raises(UnknownName, match="Nothing is known here yet"):
        memory.graph.show("nobody")


def test_long_lists_are_cut_and_the_rest_is_counted(memory: Memory) -> None:
    for number in range(12):
        chain(memory, f"from {number}", f"to {number}")
    gaps = memory.graph.knowledge_gaps(limit=3)
    assert (len(gaps.dead_ends), gaps.dead_end_count, len(gaps.clusters), gaps.cluster_count) == (3, 12, 3, 12)
    assert list(gap_lines(gaps)).count("  … and 9 more") == 2


def test_what_holds_no_more_is_no_part_of_the_graph(memory: Memory, clock: FixedClock) -> None:
    one, two, three = chain(memory, "a", "b", "c")
    memory.remember("d", "note", "for an hour", tier="session")
    memory.graph.link("d", two.id)
    memory.delete(three.id)
    clock.advance(days=40)

    assert arrows(memory.graph.show("b")) == [("a.note", "depends_on", "b.note")]
    assert memory.graph.knowledge_gaps().total == 2
    assert memory.graph.find_connections("a", "b").hops == 1
    past = memory.graph.show(one.id, include_superseded=True, depth=2)
    assert {thing.label for thing in past.things} == {"a.note", "b.note", "d.note"}


# -- before and after ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "first_is_ancestor"),
    [
        ("depends_on", False), ("required_by", True), ("caused_by", False), ("causes", True), ("part_of", False),
        ("contains", True), ("implements", False), ("implemented_by", True), ("blocks", True), ("blocked_by", False),
        ("derived_from", False), ("supersedes", False),
    ],
)  # fmt: skip
def test_ancestors_go_by_what_a_relation_means(memory: Memory, relation: str, first_is_ancestor: bool) -> None:
    one, two = chain(memory, "one", "two", relation=relation)
    ancestor, descendant = (one, two) if first_is_ancestor else (two, one)
    above, below = memory.graph.ancestors(descendant.id), memory.graph.descendants(ancestor.id)
    assert [found.thing.id for found in above.found] == [ancestor.id]
    assert [found.thing.id for found in below.found] == [descendant.id]
    assert memory.graph.ancestors(ancestor.id).found == memory.graph.descendants(descendant.id).found == ()


def test_lineage_keeps_its_path_its_depth_and_the_relations_that_were_asked_for(memory: Memory) -> None:
    a, b, c, d = chain(memory, *"abcd")
    memory.graph.link(d.id, b.id, "required_by")  # d needs nothing of a, but b needs d
    memory.graph.link(a.id, d.id, "related")
    memory.graph.link(a.id, c.id, "part_of")

    found = memory.graph.ancestors("a").found
    assert [(one.thing.entity, one.depth, one.relation) for one in found] == [
        ("b", 1, "depends_on"),
        ("c", 1, "part_of"),
        ("d", 2, "depends_on"),
    ]
    assert found[2].path in ((a.id, b.id, d.id), (a.id, c.id, d.id))
    assert [one.thing.entity for one in memory.graph.ancestors("a", relations=["contains"]).found] == ["c"]
    shallow = memory.graph.ancestors("a", max_depth=1)
    assert ([one.thing.entity for one in shallow.found], shallow.cut) == (["b", "c"], True)
    assert memory.graph.ancestors("a").cut is False


def test_a_relation_of_ones_own_counts_only_when_it_is_named(memory: Memory) -> None:
    with pytest.warns(UserWarning, match="unknown relation"):
        chain(memory, "pupil", "teacher", relation="learned from")
    assert memory.graph.ancestors("pupil").found == ()
    (found,) = memory.graph.ancestors("pupil", relations=["learned from"]).found
    assert (found.thing.entity, found.relation) == ("teacher", "learned from")
    (back,) = memory.graph.descendants("teacher", relations=["learned from"]).found
    assert (back.thing.entity, back.relation) == ("pupil", "inverse of learned from")


def test_a_round_of_dependencies_ends_and_is_found_once(memory: Memory) -> None:
    facts = chain(memory, *"abc")
    memory.graph.link(facts[2].id, facts[0].id, "depends_on")
    memory.graph.link(facts[0].id, facts[2].id, "required_by")  # the same, said from the other side
    memory.graph.link(facts[0].id, facts[1].id, "related")  # undirected: no way round

    (cycle,) = memory.graph.cycles()

    assert cycle.entities == ("a", "b", "c")
    assert cycle_line(cycle) == "[a] -->depends_on [b] -->depends_on [c] -->depends_on [a]"
    assert len(memory.graph.ancestors("a").found) == 2


def test_two_rounds_through_one_entity_are_both_told_and_inverses_close_a_round(memory: Memory) -> None:
    hub, left, right = (memory.remember(name, "note", name) for name in ("hub", "left", "right"))
    memory.graph.link(hub.id, left.id, "depends_on")
    memory.graph.link(hub.id, left.id, "blocks")  # left waits for hub
    memory.graph.link(hub.id, right.id, "part_of")
    memory.graph.link(hub.id, right.id, "contains")
    found = memory.graph.cycles()
    assert sorted(cycle.entities for cycle in found) == [("hub", "left"), ("hub", "right")]
    assert memory.graph.cycles(limit=1) == found[:1]


# -- what holds together ---------------------------------------------------------------------------------------


def test_what_all_ways_lead_through_is_an_articulation_point(memory: Memory) -> None:
    chain(memory, "a", "bridge", "b", relation="related")
    found = memory.graph.articulation_points()
    assert [(one.thing.entity, one.links) for one in found] == [("bridge", 2)]


def test_communities_are_what_is_linked_closely(memory: Memory) -> None:
    for group in ("red", "blue"):
        facts = [memory.remember(f"{group} {number}", "note", group) for number in range(5)]
        for one in facts:
            for two in facts:
                if one.id < two.id:
                    memory.graph.link(one.id, two.id)
    memory.graph.link("red 0", "blue 0")

    found = memory.graph.communities()

    assert [(one.size, one.hub.entity) for one in found] == [(5, "red 0"), (5, "blue 0")]
    assert {name.split()[0] for name in found[0].entities} == {"red"}
    assert memory.graph.communities(least=6) == ()


def test_what_comes_up_together_is_suggested_and_written_only_when_asked(memory: Memory) -> None:
    memory.remember("Mara", "role", "engineer")
    memory.remember("Project Heron", "status", "in design")
    memory.remember("Basil", "role", "cook")
    for text in ("Mara drew Project Heron", "Project Heron needs Mara", "Basil cooked", "I like tea", "It rains"):
        memory.observe([{"role": "user", "content": f"Yesterday {text}."}])

    (found,) = memory.graph.infer("Mara")
    assert (found.other, found.shared, found.linked, found.written) == ("Project Heron", 2, False, False)
    assert 0.0 < found.confidence < 1.0 < found.lift
    assert memory.stats()["links"] == 0

    (written,) = memory.graph.infer("Mara", write=True)
    assert (written.written, memory.stats()["links"]) == (True, 1)
    assert arrows(memory.graph.show("Mara")) == [("Mara.role", "related_to", "Project Heron.status")]
    (again,) = memory.graph.infer("Mara", write=True)
    assert (again.linked, again.written, memory.stats()["links"]) == (True, False, 1)


# -- whose --------------------------------------------------------------------------------------------------------


def test_nobody_walks_through_what_is_not_theirs(memory: Memory) -> None:
    common = memory.remember("office", "note", "for all")
    ann = memory.remember("ann diary", "note", "secret of ann", persona="ann")
    bob = memory.remember("bob diary", "note", "secret of bob", persona="bob")
    memory.graph.link(ann.id, common.id, scope=ANN)
    memory.graph.link(common.id, bob.id, scope=BOB)

    for scope, own, foreign in ((ANN, "ann diary", "bob diary"), (BOB, "bob diary", "ann diary")):
        around = memory.graph.show("office", depth=3, scope=scope)
        assert {thing.entity for thing in around.things} == {"office", own}
        assert memory.graph.find_connections("office", own, scope=scope).hops == 1
        assert memory.graph.knowledge_gaps(scope=scope).total == 2
        for html in (memory.graph.export(format="html", scope=scope), memory.graph.export("office", scope=scope)):
            assert own in html
            assert foreign not in html
        for name in (foreign, bob.id if own.startswith("ann") else ann.id):
            with pytest.raises(UnknownName, match="Nothing has the id") as error:
                memory.graph.show(name, scope=scope)
            assert "diary" not in str(error.value).partition("Did you mean")[2].replace(own, "")
    with pytest.raises(UnknownName):
        memory.graph.link("ann diary", bob.id, scope=ANN)
    assert memory.graph.show("office").links == ()
    assert memory.graph.find_connections("office", "office").hops == 0
    assert memory.graph.articulation_points(scope=ANN) == ()


# -- what stays tied ------------------------------------------------------------------------------------------------


def test_links_hold_for_the_next_value_and_the_old_ones_return_with_the_old_value(memory: Memory) -> None:
    port = memory.remember("server", "port", "8080")
    memory.remember("deploy", "note", "by hand")
    memory.graph.link("deploy", port.id, "depends_on", 0.7)

    new = memory.remember("server", "port", "9090")

    (link,) = memory.graph.show("deploy").links
    assert (link.target_id, link.relation, link.weight) == (new.id, "depends_on", 0.7)
    assert memory.graph.show(new.id).outbound == ()  # what it superseded is past
    memory.retract(new.id, "a typing error")
    assert [link.target_id for link in memory.graph.show("deploy").links] == [port.id]


def test_double_brackets_become_links_and_unknown_names_wait_for_their_first_fact(memory: Memory) -> None:
    memory.remember("Ana", "role", "designer")
    note = memory.remember(
        "site", "brief", "[[Ana|she]] drew it after [[specs/Tokens#colours]]; `[[code]]`, [[x.png]]"
    )
    assert sorted(arrows(memory.graph.show("site"))) == [
        ("site.brief", "wikilink", "Ana.role"),
        ("site.brief", "wikilink", "Tokens"),
    ]
    gaps = memory.graph.knowledge_gaps()
    assert (gaps.total, gaps.wanted_count, gaps.wanted[0].label) == (2, 1, "Tokens")
    assert "  - [Tokens]" in list(gap_lines(gaps))
    assert memory.lookup("Tokens") == []
    assert all(hit.metadata["entity"] != "Tokens" for hit in memory.search("Tokens", kinds=["fact"]))

    known = memory.remember("tokens", "colours", "seven of them")

    assert [link.target_id for link in memory.graph.show("site").links if link.target_id == known.id] == [known.id]
    assert memory.graph.knowledge_gaps().wanted_count == 0
    memory.remember("site", "brief", "Ana drew it")  # the new text points to nothing
    assert memory.graph.show("site").links == ()
    assert note.id not in {thing.id for thing in memory.graph.show("Ana").things}


def test_a_name_that_only_forgotten_texts_pointed_to_goes_with_them(memory: Memory) -> None:
    memory.remember("doc", "brief", "ask [[Secret Person]] and [[Known Place]]")
    memory.remember("other", "brief", "near [[Known Place]]")
    assert memory.conflicts.history("Secret Person") == []

    assert memory.forget(entity="doc").clean

    with pytest.raises(UnknownName):
        memory.graph.show("Secret Person")
    assert [thing.state for thing in memory.graph.show("Known Place").centre] == ["stub"]
    assert b"Secret Person" not in memory.stores.home.database_file.read_bytes()
    memory.delete(memory.lookup("other")[0].id)
    assert memory.graph.knowledge_gaps().wanted_count == 0


def test_brackets_that_name_nothing_or_the_text_itself_make_no_link(memory: Memory) -> None:
    memory.remember("site", "note", "see [[site]], [[ ]], [[]], [[|x]], [[#h]], [[a\nb]], [[[[")
    assert memory.graph.show("site").links == ()
    assert memory.stats()["links"] == 0
    memory.remember("many", "note", " ".join(f"[[name {number}]]" for number in range(50)))
    assert len(memory.graph.show("many").links) == 20


def test_a_wikilink_never_leads_to_somebody_elses_fact(memory: Memory) -> None:
    theirs = memory.remember("Vault", "code", "1234 of bob", persona="bob")
    memory.remember("diary", "note", "open the [[Vault]]", persona="ann")
    around = memory.graph.show("diary", scope=ANN)
    assert [thing.state for thing in around.things] == ["current", "stub"]
    assert theirs.id not in {thing.id for thing in around.things}
    memory.forget(persona="ann", entity="Vault")
    with pytest.raises(UnknownName):
        memory.graph.show("Vault", scope=ANN)


def test_links_between_notes_of_a_vault_are_there_whichever_came_first(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Alpha.md").write_text("Alpha leads to [[Beta]].", "utf-8")
    (vault / "Beta.md").write_text("Beta leads to [[notes/Alpha|the first]].", "utf-8")
    memory.import_from("obsidian", vault)
    assert {(a.split(".")[0], r, b.split(".")[0]) for a, r, b in arrows(memory.graph.show("Alpha"))} == {
        ("Alpha", "wikilink", "Beta"),
        ("Beta", "wikilink", "Alpha"),
    }


@pytest.mark.parametrize(
    "call",
    [
        lambda graph: graph.show("a", depth=0),
        lambda graph: graph.show("a", most=0),
        lambda graph: graph.find_connections("a", "b", max_depth=-1),
        lambda graph: graph.knowledge_gaps(limit=True),
        lambda graph: graph.cycles(limit="3"),
        lambda graph: graph.infer(" "),
        lambda graph: graph.infer("a", limit=0),
        lambda graph: graph.communities(resolution=float("nan")),
        lambda graph: graph.ancestors("a", relations="depends_on"),
        lambda graph: graph.export("a", format="png"),
    ],
)
def test_numbers_and_names_that_mean_nothing_are_refused(memory: Memory, call: object) -> None:
    chain(memory, "a", "b")
    with pytest.raises(InvalidInput):
        call(memory.graph)  # type: ignore[operator]  # a lambda
