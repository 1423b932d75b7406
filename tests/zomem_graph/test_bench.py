"""The benchmarks: what they count is right, one command gives one document, and a second run embeds nothing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from typer.testing import CliRunner

from zomem_graph.bench import capture, embedders, followups, hops, hyde, latency, recall, through
from zomem_graph.bench.cli import app
from zomem_graph.bench.conditions import changed_options
from zomem_graph.bench.homes import kept_folder
from zomem_graph.bench.plain import PlainWords
from zomem_graph.bench.reading import READING, fill, measured
from zomem_graph.bench.scoring import MEASURES, difference, mean, score_ranking
from zomem_graph.bench.sets import Entry, read_set
from zomem_graph.bench.synthetic import ProjectionEmbedder, chat
from zomem_graph.bench.variants import INGREDIENTS, MEANING_ONLY, with_settings
from zomem_graph.cli import COMMANDS
from zomem_graph.nodes.options import MemoryOptions
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import SmallEmbedder


class CountingEmbedder(SmallEmbedder):
    """Counts the texts it was given to store."""

    def __init__(self) -> None:
        super().__init__(name="counting")
        self.stored = 0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.stored += len(texts)
        return super().embed_documents(texts)


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")


def dialogue(*texts: str) -> list[dict[str, str]]:
    return [{"speaker": "BA"[n % 2], "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(texts, 1)]


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """Two tiny conversations in LoCoMo's form."""
    folder = tmp_path / "chats"
    folder.mkdir()
    for name, pet in (("conv-1", "parrot"), ("conv-2", "tortoise")):
        turns = dialogue("Morning!", f"My {pet} is called Kiwi.", "We painted the fence green.", "Lovely weather.")
        asked = [
            {"question": f"What is the {pet} called?", "answer": "Kiwi", "evidence": ["D1:2"], "category": 4},
            {"question": "Which fence was painted?", "answer": "ours", "evidence": ["D1:3"], "category": 2},
            {"question": "Who is tempted?", "evidence": ["D1:1"], "category": 5},
            {"question": "Without evidence?", "answer": "-", "evidence": [], "category": 3},
        ]
        spoken = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
        document = {"sample_id": name, "conversation": {"speaker_a": "A", "speaker_b": "B", **spoken}, "qa": asked}
        (folder / f"{name}.json").write_text(json.dumps(document), "utf-8")
    return folder


# -- what is counted ---------------------------------------------------------------------------------


def test_recall_is_the_share_of_the_gold_and_all_wants_every_part() -> None:
    scores = score_ranking(["x", "a", "y", "z", "v", "w", "b"], ["a", "b"])
    assert (scores["recall@5"], scores["recall@10"]) == (0.5, 1.0)
    assert (scores["all@5"], scores["all@10"]) == (0.0, 1.0)
    assert scores["mrr"] == 0.5


def test_a_perfect_ranking_has_full_gain_and_an_empty_one_none() -> None:
    assert score_ranking(["a", "b"], ["b", "a"])["ndcg@10"] == pytest.approx(1.0)
    assert set(score_ranking([], ["a"]).values()) == {0.0}


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.sets(st.sampled_from("abcxyz"), min_size=1))
def test_every_measure_lies_between_nought_and_one(ranked: list[str], gold: set[str]) -> None:
    scores = score_ranking(ranked, sorted(gold))
    assert all(0.0 <= scores[name] <= 1.0 for name in MEASURES)
    assert scores["recall@5"] <= scores["recall@10"] <= scores["recall@20"]


def test_a_mean_comes_with_n_and_an_interval_around_it() -> None:
    values = [0.0, 1.0] * 50
    figure = mean(values, ["one"] * 50 + ["two"] * 50)
    low, high = figure["interval"]
    assert (figure["mean"], figure["n"]) == (0.5, 100)
    assert low < 0.5 < high
    assert mean(values, ["one"] * 50 + ["two"] * 50) == figure


def test_conversations_that_differ_widen_the_interval() -> None:
    values = [0.0] * 50 + [1.0] * 50
    apart, together = (mean(values, groups)["interval"] for groups in (["a"] * 50 + ["b"] * 50, ["a"] * 100))
    assert apart[1] - apart[0] > together[1] - together[0]


def test_a_paired_difference_of_equals_is_nought_exactly() -> None:
    assert difference([0.3, 0.9], [0.3, 0.9], ["a", "b"]) == {"mean": 0.0, "n": 2, "interval": [0.0, 0.0]}


def test_a_mean_of_nothing_says_so() -> None:
    assert mean([], []) == {"mean": None, "n": 0, "interval": None}


# -- sets, the floor, options ------------------------------------------------------------------------


def test_questions_without_evidence_are_left_out_and_tempting_ones_kept_apart(chats: Path) -> None:
    found = read_set(chats)
    assert found.questions == 6
    assert found.headline == ("single_hop", "temporal")
    assert found.haystacks[0].entries[1].speaker == "B"


def test_passages_and_sessions_are_told_by_their_files(tmp_path: Path) -> None:
    passages, sessions = tmp_path / "passages", tmp_path / "sessions"
    passages.mkdir()
    sessions.mkdir()
    write_lines(passages / "passages.jsonl", [{"id": 0, "title": "Kiwi", "text": "A bird."}])
    write_lines(passages / "questions.jsonl", [{"question": "Which bird?", "gold": [0], "hops": 2}])
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    day = "2023/05/30 (Tue) 21:48"
    write_lines(sessions / "sessions.jsonl", [{"session_id": "s1", "date": day, "turns": turns}])
    write_lines(sessions / "questions.jsonl", [{"question": "Hi?", "gold": ["s1"], "haystack": "h"}])
    (sessions / "haystacks.json").write_text('{"h": ["s1"], "unasked": ["s1"]}', "utf-8")
    assert read_set(passages).haystacks[0].questions[0].category == "2 hops"
    (haystack,) = read_set(sessions).haystacks
    assert [entry.unit for entry in haystack.entries] == ["s1", "s1"]
    assert str(haystack.entries[0].at) == "2023-05-30 21:48:00+00:00"


def test_a_folder_without_a_set_is_refused_with_the_accepted_forms(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"conv-\*\.json"):
        read_set(tmp_path)


def test_the_floor_finds_words_by_their_stem_and_needs_a_telling_one() -> None:
    entries = [Entry(id=str(n), unit=str(n), text=text) for n, text in enumerate(("He runs far", "She sings"))]
    plain = PlainWords(entries)
    assert plain.best("Who was running?", limit=10) == ["0"]
    assert plain.best("who was it?", limit=10) == []


def test_options_are_set_by_name() -> None:
    options = with_settings(
        MemoryOptions(), ["fusion.session=0", "words=false", "gate.floor=0.123", "column_weights=1,0,0,1,2"]
    )
    assert changed_options(options) == {
        "gate.floor": 0.123,
        "retrieve.fusion.session": 0.0,
        "retrieve.column_weights": (1.0, 0.0, 0.0, 1.0, 2.0),
        "retrieve.words": False,
    }


@pytest.mark.parametrize("setting", ["fusion", "fusion=1", "nothing=1", "words=perhaps", "pool=many"])
def test_a_setting_that_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(InvalidInput, match=setting.partition("=")[0]):
        with_settings(MemoryOptions(), [setting])


def test_every_named_ingredient_can_be_taken_away() -> None:
    for settings in (*INGREDIENTS.values(), MEANING_ONLY):
        assert changed_options(with_settings(MemoryOptions(), settings))


# -- the suites --------------------------------------------------------------------------------------


def test_recall_is_measured_beside_the_floor_and_meaning_alone(chats: Path) -> None:
    result = recall.run(chats, embeddings=SmallEmbedder())
    headline = {name: each["headline"]["recall@10"] for name, each in result["systems"].items()}
    assert set(headline) == {"zomem", "plain words", "meaning alone"}
    assert headline["zomem"]["mean"] == 1.0
    assert {each["n"] for each in headline.values()} == {4}
    assert result["conditions"]["embedder"] == "testing:small"
    assert json.loads(json.dumps(result))["set"] == "chats"


def test_without_an_embedder_nothing_is_said_of_meaning(chats: Path) -> None:
    result = recall.run(chats, embeddings="none")
    assert set(result["systems"]) == {"zomem", "plain words"}
    assert set(result["zomem_minus"]) == {"plain words"}


def test_a_kept_home_is_not_embedded_again(chats: Path, tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    first = recall.run(chats, home=tmp_path / "kept", embeddings=embedder)
    assert embedder.stored == 8
    second = recall.run(chats, home=tmp_path / "kept", embeddings=embedder)
    assert embedder.stored == 8
    assert second["systems"]["zomem"] == first["systems"]["zomem"]


def test_an_ablation_names_what_each_ingredient_buys(chats: Path) -> None:
    table = recall.run(chats, embeddings=SmallEmbedder(), ablate=True)["ablation"]
    assert set(table) == set(INGREDIENTS)
    assert table["without words"]["recall@10_minus_whole"]["n"] == 4


def test_what_is_injected_is_measured_with_its_price(chats: Path) -> None:
    result = through.run(chats, embeddings=SmallEmbedder(), settings=["gate.floor=0"])
    assert result["gold_in_block"]["n"] == 4
    assert sum(result["decisions"].values()) == 4
    assert 0 < result["block_tokens"]["max"] <= 1_000
    assert result["conditions"]["options"] == {"gate.floor": 0.0}


def test_latency_is_measured_against_the_bare_parts() -> None:
    result = latency.run(100, questions=10, embeddings="none")
    assert result["search"]["whole"]["n"] == result["search"]["bare_parts"]["n"] == 10
    assert result["search"]["graph_off"]["cpu_ratio_p50"] > 0
    assert set(result["recall"]["words_say_skip"]["decisions"]) == {"skip by words"}
    assert result["write"]["bulk_facts_a_second_stored"] > 0
    assert result["disk"]["bytes_an_item"] > 0


def test_rules_are_compared_with_the_labels(tmp_path: Path) -> None:
    hello: dict[str, Any] = {
        "id": "2",
        "text": "hello",
        "role": "user",
        "speaker": None,
        "kind": "greeting",
        "lang": "en",
        "facts": [],
    }
    fact = {"entity": "user", "key": "city", "value": "Leeds"}
    moved = {**hello, "id": "1", "text": "I live in Leeds.", "kind": "fact", "facts": [fact]}
    write_lines(tmp_path / "capture_messages.jsonl", [moved, hello])
    result = capture.run(tmp_path)
    assert (result["messages"], result["without_a_fact"]) == (2, 1)
    assert result["exact"]["recall"] == {"mean": 1.0, "n": 1, "interval": [1.0, 1.0]}
    assert result["exact"]["precision"]["mean"] == 1.0


def test_an_embedder_that_cannot_be_had_is_named_with_the_reason(chats: Path) -> None:
    result = embedders.run(chats, names=["local:nothing", "none"])
    assert result["embedders"] == {}
    assert "local:nothing" in result["skipped"]["local:nothing"]


def test_a_made_up_chat_is_the_same_every_time() -> None:
    made = chat(60, 5)
    assert made == chat(60, 5)
    assert made != chat(60, 5, seed=2)
    assert [len(session) for session in made.sessions] == [25, 25, 10]


def test_made_up_vectors_have_length_one_and_share_their_words() -> None:
    embedder = ProjectionEmbedder()
    rows = embedder.embed_documents(["tubala mikori", "tubala mikori nolaga", "zefuka dore"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert rows[0] @ rows[1] > 0.5 > abs(float(rows[0] @ rows[2]))


def test_a_folder_that_is_not_kept_is_gone_afterwards(tmp_path: Path) -> None:
    with kept_folder(None) as temporary:
        assert temporary.is_dir()
    assert not temporary.exists()
    with kept_folder(tmp_path / "kept") as kept:
        pass
    assert kept.is_dir()


def test_the_command_prints_one_document_and_progress_beside_it(chats: Path) -> None:
    done = CliRunner().invoke(app, ["recall", "--data", str(chats), "--embeddings", "none", "--set", "pool=50"])
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert result["conditions"]["options"] == {"retrieve.pool": 50}
    assert "conv-1" in done.stderr


def test_hops_are_measured_with_without_and_over_given_triples(tmp_path: Path) -> None:
    passages = [
        {"id": 0, "title": "Lamp", "text": "The lamp was designed by Ines Rocha.", "triples": []},
        {"id": 1, "title": "Town", "text": "She comes from it.", "triples": [["Ines Rocha", "comes from", "Braga"]]},
        *({"id": n, "title": f"Walk {n}", "text": f"Fine weather, walk number {n}."} for n in range(2, 30)),
    ]
    write_lines(tmp_path / "passages.jsonl", passages)
    write_lines(
        tmp_path / "questions.jsonl",
        [{"question": "Where does the designer of the lamp come from?", "gold": [0, 1], "hops": 2}],
    )
    found = hops.run(tmp_path, embeddings="none")
    assert found["n"] == 1
    assert set(found["ways"]) == {"own names", "given triples"}
    assert found["ways"]["given triples"]["search"]["recall@5"]["mean"] == 1.0
    assert found["ways"]["own names"]["without hops"]["minus_without_hops"]["all@5"]["mean"] == 0.0


def test_hops_want_passages(chats: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no passages"):
        hops.run(chats)


def test_followups_are_asked_alone_with_their_history_and_rewritten(tmp_path: Path) -> None:
    talk = [
        ("Who is Yelena Markov?", [], "Yelena Markov was a glass painter in Riga."),
        ("Where did she study?", ["Who is Yelena Markov?"], "Markov learned painting on glass in a Dresden school."),
        ("Did she travel?", ["Where did she study?"], "I don't know."),
        ("Any students?", ["Did she travel?"], "Two sisters learned from Yelena Markov for a decade."),
    ]
    rows, said = [], ""
    for number, (question, last, answer) in enumerate([*talk, ("And then?", ["Any students?"], "")], 1):
        told = {"dialog": "d1", "turn": number, "question": question, "rewrite": f"{question} Yelena Markov"}
        rows.append({**told, "previous": [*last, said] if last else [], "needs_context": number > 1})
        said = answer
    write_lines(tmp_path / "dev.jsonl", rows)
    found = followups.run(tmp_path, embeddings="none")
    leaning = found["ways"]["leans on the talk"]
    assert found["answers"] == 3
    assert leaning["with history"]["recall@10"]["n"] == 2
    assert leaning["with history"]["recall@10"]["mean"] == 1.0


def test_followups_want_their_set(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="CANARD"):
        followups.run(tmp_path)


def test_a_useless_imagined_answer_is_measured_beside_none_and_the_models(chats: Path, tmp_path: Path) -> None:
    found = hyde.run(chats, embeddings=CountingEmbedder(), home=tmp_path / "kept", questions=3)
    assert found["chat_model"] is None
    assert set(found["ways"]) == {"without", "random words", "another text of the store"}
    assert found["ways"]["without"]["minus_without"]["mean"] == 0.0
    assert found["ways"]["without"]["recall@10"]["n"] == 3


def test_commands_that_read_are_timed_beside_the_import_of_what_they_load(home: Path) -> None:
    fill(home)
    found = measured(home, rounds=1, say=lambda _line: None, commands=[("lookup", "tower"), ("config",)])
    assert found.keys() == {"lookup tower", "config"}
    assert all(one["ratio"] > 0 and one["modules"] > 100 for one in found.values())


def test_the_commands_that_read_are_those_of_the_command_line() -> None:
    assert {words[0] for words in READING} <= COMMANDS.keys()
