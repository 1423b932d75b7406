"""A vault as nodes of a graph, as a skill, and on a machine made by cloud-init."""

import asyncio
import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph

from tests.zomem_graph.vault.kit import Ground, said
from zomem_graph.bench.vault_care import Same, prepare, snapshot
from zomem_graph.cli.vault import vault as vault_app
from zomem_graph.schedules import Job, cron_block, remove_cron, write_cron
from zomem_graph.stores.errors import InvalidInput, StoreReadOnly, UnknownName
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.vault import Vault
from zomem_graph.vault.graph import VaultState, create_vault_graph, create_vault_node

DOCS = Path(__file__).parents[3] / "docs"
ACTIONS = {registered.name for registered in vault_app.registered_commands}


def test_the_graph_does_what_consolidate_does(tmp_path: Path) -> None:
    prepare(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    answers: list[dict[str, Any]] = []
    for name in ("one", "two"):
        root = tmp_path / name
        with Vault.open(
            root / "data", home=root / "home", embeddings=SmallEmbedder(), clock=FixedClock(), max_facts=40
        ) as vault:
            if name == "one":
                answers.append(vault.consolidate())
            else:
                state = create_vault_graph(vault).compile().invoke({})
                answers.append({**state["vault_done"], "notes": state["vault_notes"]})

    answers[1].pop("resumed")
    assert answers[0] == answers[1]
    same = Same.of(snapshot(tmp_path / "one/data"), snapshot(tmp_path / "two/data"))
    assert same, same.unlike


def test_an_action_is_a_node_for_both_kinds_of_graphs(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        graph = create_vault_graph(vault).compile()
        state = asyncio.run(graph.ainvoke({}))
        report = create_vault_node(vault, "health-check")(state)

        assert report["vault_done"]["health-check"]["total_facts"] == 1
        with pytest.raises(UnknownName, match="quality-probe"):
            create_vault_node(vault, "dance")


def test_the_skill_names_every_action_and_no_other() -> None:
    text = (DOCS / "openclaw/SKILL.md").read_text("utf-8")
    head = yaml.safe_load(text.split("---")[1])
    listed = set(re.findall(r"^\| `([\w-]+)` \| `zomem vault", text, re.MULTILINE))

    assert head["name"] == "vm-memory-oracle"
    assert listed == ACTIONS


def test_the_machine_of_the_example_never_formats_twice_and_boots_without_its_disk() -> None:
    text = (DOCS / "vm/cloud-init.yaml").read_text("utf-8")
    machine = yaml.safe_load(text)

    assert text.startswith("#cloud-config\n")
    assert all(disk["overwrite"] is False for disk in machine["disk_setup"].values())
    assert all(system["overwrite"] is False for system in machine["fs_setup"])
    assert [field for mount in machine["mounts"] for field in mount if "nofail" in str(field)]
    assert {*machine} <= {"disk_setup", "fs_setup", "mounts", "users", "packages", "runcmd"}
    commands = [" ".join(words) for words in machine["runcmd"]]
    called = {word for command in commands for word in re.findall(r"zomem vault ([\w-]+)|, vault, ([\w-]+)", command)}
    assert {name for pair in called for name in pair if name} | {"init"} <= ACTIONS


def test_yaml_on_the_page_is_what_a_vault_reads(tmp_path: Path) -> None:
    page = (DOCS / "vm.md").read_text("utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    (section,) = [block["memory_oracle"] for block in blocks if "memory_oracle" in block]
    rules = next(block["groups"][0]["rules"] for block in blocks if "groups" in block)

    assert section["half_life_days"] == 30
    assert all("zomem_vault_" in rule["expr"] for rule in rules)


@pytest.mark.parametrize("when", ["* * * *", "every night", "0 3 * * * ; rm -rf /", "61"])
def test_what_is_no_time_of_cron_is_refused(when: str) -> None:
    with pytest.raises(InvalidInput, match="five fields"):
        cron_block([Job(when=when, arguments=("vault", "status"), about="x")], title="t")


def test_words_of_a_cron_table_are_quoted_for_its_shell(tmp_path: Path) -> None:
    block = cron_block(
        [Job(when="0 3 * * *", arguments=("vault", "status", "--data-path", "/a b/100%;x"), about="x")], title="t"
    )

    assert r"'/a b/100\%;x'" in block
    with pytest.raises(InvalidInput, match="end of line"):
        cron_block([Job(when="0 3 * * *", arguments=("a\nb",), about="x")], title="t")
    with pytest.raises(InvalidInput, match="no name of a user"):
        cron_block([], title="t", owner="a b")


def test_a_table_keeps_what_is_not_ours(tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text("1 1 * * * mine")
    block = cron_block([Job(when="0 3 * * *", arguments=("vault", "status"), about="x")], title="t")

    assert write_cron(table, block, title="t")
    assert not write_cron(table, block, title="t")
    assert table.read_text().startswith("1 1 * * * mine\n# begin t")
    assert remove_cron(table, title="t")
    assert table.read_text() == "1 1 * * * mine\n"
    with pytest.raises(StoreReadOnly):
        write_cron(tmp_path / "nowhere" / "table", block, title="t")


def test_every_action_is_a_node_and_answers_with_plain_data(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        graph: Any = StateGraph(VaultState)
        names = sorted(name for name in ACTIONS if name and name != "rebuild")
        for name in names:
            graph.add_node(name, create_vault_node(vault, name))
        graph.add_node("rebuild", create_vault_node(vault, "rebuild", replace=True))
        for before, after in pairwise([START, *names, "rebuild"]):
            graph.add_edge(before, after)
        done = graph.compile().invoke({"vault_query": "gateway port"})["vault_done"]

    assert {*done} == ACTIONS
    assert json.loads(json.dumps(done)) == done
    assert [hit["text"] for hit in done["recall"]] == ["gateway port: 8443"]
    assert "vault consolidate" in done["install-cron"]
    assert {"name", "ok", "said", "must"} == {*done["smoke-test"][0]}
    assert done["rebuild"]["facts"] == 1


def test_a_recall_node_asks_what_the_user_said_last(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443"), said("Ana", "likes", "tea")])
        node = create_vault_node(vault, "recall", limit=1)
        said_last = {"messages": [HumanMessage("gateway port?"), AIMessage("Let me look.")]}

        assert [hit["text"] for hit in node(said_last)["vault_done"]["recall"]] == ["gateway port: 8443"]
        asked = node(said_last | {"vault_query": "what likes Ana"})
        assert [hit["text"] for hit in asked["vault_done"]["recall"]] == ["Ana likes: tea"]
        with pytest.raises(InvalidInput, match="messages"):
            node({})


def test_a_node_takes_the_arguments_of_its_action_and_no_other(ground: Ground) -> None:
    with ground.open() as vault:
        vault.ingest([said("gateway", "port", "8443")])
        vault.consolidate()
        vault.ingest([said("relay", "port", "1")])
        done = create_vault_node(vault, "restore", backup="latest")({})["vault_done"]["restore"]
        with pytest.raises(InvalidInput, match=r"no argument 'back'.*backup"):
            create_vault_node(vault, "restore", back="latest")
        with pytest.raises(InvalidInput, match="has none"):
            create_vault_node(vault, "status", strict=True)

    assert done["facts"] == 1
