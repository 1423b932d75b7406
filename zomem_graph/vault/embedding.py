"""Which embedder a vault may use: one that runs in this process, whatever keys lie around (spec F128).

The names of the multilingual E5 family are known by their prefixes: a question is embedded as "query: …", what is
stored as "passage: …". The small one comes with the extra `local`; a larger one is a folder with model.onnx and
tokenizer.json, put there by hand, because a vault fetches nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zomem_graph.models.embedders import local_choice
from zomem_graph.models.local import MiniLM
from zomem_graph.models.specs import ModelSpec
from zomem_graph.nodes.ports import Embedder, Vector
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ModelMissing
from zomem_graph.stores.paths import path_given
from zomem_graph.vault.options import VaultOptions

__all__ = ["E5Folder", "choose_embedder"]

_LOCAL: Final = ("local", "chroma", "testing", "none")
_NAMES: Final = {
    "multilingual-e5-small": "local:e5-small",
    "e5-small": "local:e5-small",
    "minilm": "local:minilm",
    "all-minilm-l6-v2": "local:minilm",
}
_LARGER: Final = ("multilingual-e5-base", "multilingual-e5-large")
_FILES: Final = ("model.onnx", "onnx/model.onnx", "model_fp16.onnx")


class E5Folder:
    """A model of the E5 family from a folder, with the prefixes it was trained with."""

    spread = 0.15  # as measured for the small sister: the cosines of the family lie close together
    usual = 0.74

    def __init__(self, folder: Path, *, device: str = "cpu", threads: int | None = 1) -> None:
        """Raise ModelMissing when the files are not there or the device is not."""
        file = next((folder / name for name in _FILES if (folder / name).is_file()), None)
        if file is None:
            raise ModelMissing(f"{folder} has no {_FILES[0]}. Put model.onnx and tokenizer.json there.")
        _check_device(device)
        self.identity = f"local:{folder.name}"
        self._inner = MiniLM(file, identity=self.identity, threads=threads)
        self.width = self._inner.question_states("query: width").states.shape[1]
        self._inner.forget_questions()

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question."""
        row: Vector = self._rows([f"query: {text}"])[0]
        return row

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of stored texts."""
        return self._rows([f"passage: {text}" for text in texts])

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.empty((len(texts), self.width), np.float32)
        for positions, found in self._inner.batches_of_states(texts):
            rows[positions] = self._inner.units(found)
        return rows


def choose_embedder(options: VaultOptions, settings: Settings, recorded: str | None, given: Any) -> "str | Embedder":
    """Return the embedder of a vault; never one that needs a key or a network.

    `recorded` is the one the home was made with. Raises InvalidInput for a remote one, ModelMissing for one that is
    not there.
    """
    if given is not None and not isinstance(given, str):
        return given  # type: ignore[no-any-return]  # the caller's own object
    wanted = given if isinstance(given, str) and given else options.embedding_model
    if recorded is not None and recorded.split(":", 1)[0] not in _LOCAL:
        raise InvalidInput(
            f"The home {settings.home} was made with {recorded}, and a vault never uses a key or the network. "
            "Give the vault a home of its own: --home DIR, or home under memory_oracle."
        )
    if wanted == "auto":
        _check_device(options.embedding_device)
        return recorded or _usual(settings)
    return _named(wanted, options, settings)


def _usual(settings: Settings) -> str:
    """Return what the settings name when that is local, else the best that is installed."""
    chosen = (settings.model_embedding or "").strip()
    if chosen and chosen.lower() != "auto" and _is_local(chosen):
        return chosen
    return local_choice(settings) or "none"


def _is_local(text: str) -> bool:
    spec = ModelSpec.read(text)
    return spec.is_none or spec.provider in _LOCAL


def _named(wanted: str, options: VaultOptions, settings: Settings) -> "str | Embedder":
    name = wanted.strip()
    spec = _NAMES.get(name.lower(), name)
    place = path_given("embedding_model", name, of="a folder with a model")
    if name.lower() in _LARGER or "/" in name or place.is_dir():
        folder = place if "/" in name or place.is_dir() else settings.model_folders[0] / name
        return E5Folder(folder, device=options.embedding_device, threads=settings.threads)
    if ":" not in spec and spec.lower() != "none":
        known = ", ".join([*_NAMES, *_LARGER])
        raise InvalidInput(f"embedding_model {name!r:.60} is not known. Use auto, none, {known}, or a folder.")
    if not _is_local(spec):
        raise InvalidInput(
            f"embedding_model {name!r:.60} is not local, and a vault never uses a key or the network. "
            "Use auto, multilingual-e5-small, none, or a folder with model.onnx and tokenizer.json."
        )
    _check_device(options.embedding_device)
    return spec


def _check_device(device: str) -> None:
    """Raise ModelMissing when embedding on the GPU was asked for: nothing here would run there."""
    if device == "gpu":
        raise ModelMissing(
            "embedding_device gpu: the local embedders run on the CPU, and none of them was built for a GPU here. "
            "Set embedding_device: cpu."
        )
