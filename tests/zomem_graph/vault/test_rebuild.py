"""A store from the files alone."""

import json

import pytest

from tests.zomem_graph.vault.kit import Ground, facts_of, said
from zomem_graph.bench.vault_care import rebuild
from zomem_graph.stores.errors import StoreError
from zomem_graph.vault import Vault


def _lively(ground: Ground) -> None:
    """A vault with something of everything."""
    with ground.open() as vault:
        vault.ingest(
            [
                said("gateway", "port", "8443", metadata={"rack": 7}, confidence=0.7),
                said("Ana", "likes", "tea", category="preference", importance=1.6),
                said("Ana", "born", "1987", tier="permanent"),
                said("odd \u2028 name\n", "a\tb", 'quote " and \\ and \ud800 end', many=True),
                {"subject": "note", "object": "no predicate here"},
                said("关", "端口", "部署方案"),
            ]
        )
        ground.session("2026-01-05-090000", ("user", "My name is Dana and I work at Acme."))
        ground.clock.advance(days=3, seconds=0.123457)
        vault.ingest([said("gateway", "port", "9000")])
        vault.ingest()
        vault.recall("gateway port")
        ground.clock.advance(days=90)
        vault.recall("what does Ana like?")
        vault.consolidate()
        vault.ingest([said("late", "port", "1")])


def test_a_new_home_has_every_field_of_the_old_one(ground: Ground) -> None:
    _lively(ground)
    with ground.open() as vault:
        before = facts_of(vault)
    with ground.open(home="second") as vault:
        report = vault.rebuild()
        after = facts_of(vault)
        turns = vault.memory.stats()["turns"]

    assert after == before
    assert report["facts"] + report["archived"] == len(before)
    assert report["notes"] == []
    assert turns == 0  # the log was cleaned away after thirty days


def test_files_after_a_rebuild_are_the_files_before_it(ground: Ground) -> None:
    _lively(ground)
    with ground.open() as vault:
        vault.consolidate()
    before = {path.name: path.read_bytes() for path in (ground.data / "knowledge-graph").iterdir()}
    with ground.open(home="second") as vault:
        vault.rebuild()

    after = {path.name: path.read_bytes() for path in (ground.data / "knowledge-graph").iterdir()}
    assert after == before


def test_session_logs_are_kept_as_turns_and_not_learned_from_twice(ground: Ground) -> None:
    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", "My name is Dana and I work at Acme."))
        vault.consolidate()
    with ground.open(home="second") as vault:
        assert vault.rebuild()["sessions"] == 1
        assert vault.ingest()["sessions"] == 0
        assert vault.memory.stats()["turns"] == 1


def test_a_day_that_goes_on_after_a_rebuild_keeps_what_its_page_said_before(ground: Ground) -> None:
    page = ground.data / "daily/2026-01-05.md"
    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", "My sister Ines lives in Coimbra. I need to renew the licence."))
        vault.consolidate()
        before = [line for line in page.read_text("utf-8").splitlines() if line.startswith("- ")]
    with ground.open(home="second") as vault:
        vault.rebuild()
        ground.session("2026-01-05-150000", ("user", "The port of the relay is 2626."))
        vault.summarize()
    text = page.read_text("utf-8")

    assert before
    assert set(before) <= set(text.splitlines())
    assert "2626" in text
    assert "2 sessions, 2 messages" in text


def test_loops_and_episodes_come_back_from_the_logs_that_are_there(ground: Ground) -> None:
    def known(vault: Vault) -> tuple[list[str], int]:
        return [loop.title for loop in vault.memory.loops.list()], len(vault.memory.episodes.list())

    with ground.open() as vault:
        ground.session("2026-01-05-090000", ("user", "I need to renew the licence of the export tool."))
        vault.ingest()
        before = known(vault)
    with ground.open(home="second") as vault:
        vault.rebuild()
        after = known(vault)

    assert before[0]
    assert after == before


def test_a_line_by_hand_with_a_time_but_no_id_is_taken_in(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        with ground.facts.open("a", encoding="utf-8") as file:
            for name in ("Ana", "Bo"):
                file.write(json.dumps(said(name, "likes", "tea", created="2025-12-06T12:00:00Z")) + "\n")
    with ground.open(home="second") as vault:
        report = vault.rebuild()

    assert (report["taken_in"], report["notes"]) == (2, [])


def test_the_night_goes_on_where_the_old_machine_stopped(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        ground.clock.advance(days=15)
        vault.consolidate()
        vault.quality_probe()
    with ground.open(home="second") as vault:
        vault.init()
        ground.clock.advance(days=15)
        vault.consolidate()

    (entry,) = ground.activations().values()
    assert entry["activation"] == pytest.approx(0.5)
    assert ground.health()["quality_probe"]["passed"] == 3


def test_a_home_that_has_a_vault_is_not_replaced_by_accident(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        with pytest.raises(StoreError, match="--replace"):
            vault.rebuild()
        ground.facts.write_text("", "utf-8")
        assert vault.rebuild(replace=True)["facts"] == 0


def test_lines_written_by_hand_and_torn_ones_are_taken_in_or_told(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        with ground.facts.open("a", encoding="utf-8") as file:
            file.write('{"subject": "Ana", "predicate": "likes", "object": "tea"}\n{"subject": "Bo"')
    with ground.open(home="second") as vault:
        report = vault.rebuild()
        found = [hit.text for hit in vault.memory.search("Ana likes")]

    assert report["taken_in"] == 1
    assert any("half-written" in note for note in report["notes"])
    assert "Ana likes: tea" in found


def test_files_of_the_original_without_seals_are_read(ground: Ground) -> None:
    folder = ground.data / "knowledge-graph"
    folder.mkdir(parents=True)
    (folder / "facts.jsonl").write_text(
        '{"id": "fact-1b4e28ba-2fa1-41d2-883f-0016d3cca427", "subject": "deploy", "predicate": "runs on", '
        '"object": "Friday", "source": "user-stated", "created": "2025-12-06T12:00:00Z", "activation": 0.8}\n',
        "utf-8",
    )
    with ground.open() as vault:
        vault.init()
        (entry,) = ground.activations().values()
        assert [hit.text for hit in vault.recall("deploy runs on").hits] == ["deploy runs on: Friday"]

    assert (entry["activation"], entry["as_of"]) == (0.8, "2025-12-06T12:00:00+00:00")


def test_two_lines_that_claim_one_address_become_one_current_fact(ground: Ground) -> None:
    folder = ground.data / "knowledge-graph"
    folder.mkdir(parents=True)
    line = '{{"id": "fact-{id}", "subject": "gateway", "predicate": "port", "object": "{port}", "created": "{at}"}}\n'
    (folder / "facts.jsonl").write_text(
        line.format(id="a", port="2", at="2025-12-07T12:00:00Z")
        + line.format(id="b", port="1", at="2025-12-06T12:00:00Z"),
        "utf-8",
    )
    with ground.open() as vault:
        report = vault.rebuild()
        found = [hit.text for hit in vault.recall("gateway port").hits]

    assert found == ["gateway port: 2"]
    assert report["facts"] == 1


def test_vectors_come_out_of_the_index(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said(f"host {number}", "port", str(number)) for number in range(20)])
        vault.consolidate()
    with ground.open(home="second") as vault:
        assert vault.rebuild()["vectors_reused"] == 20


@pytest.mark.slow
def test_ten_thousand_facts_come_back_field_by_field() -> None:
    found = rebuild(10_000, say=lambda _line: None)

    assert found["unlike"] == 0
    assert found["facts"] == 11_000
