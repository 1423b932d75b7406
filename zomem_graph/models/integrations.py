"""Models of every other provider, through LangChain's own way of naming them (extra `agents`)."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from zomem_graph.models.failures import provider_errors
from zomem_graph.models.specs import ModelSpec
from zomem_graph.stores.errors import ModelError, ModelMissing

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

__all__ = ["integrated_chat", "integrated_embeddings"]

T = TypeVar("T")


def integrated_chat(spec: ModelSpec) -> "BaseChatModel":
    """Build a provider's chat model; raises ModelMissing with what to install or set."""

    def build() -> "BaseChatModel":
        from langchain.chat_models import init_chat_model

        return init_chat_model(spec.model, model_provider=spec.provider)

    return _built(spec, build)


def integrated_embeddings(spec: ModelSpec) -> "Embeddings":
    """Build a provider's embeddings; raises ModelMissing with what to install or set."""

    def build() -> "Embeddings":
        from langchain.embeddings import init_embeddings

        return init_embeddings(spec.model, provider=spec.provider)

    return _built(spec, build)


def _built(spec: ModelSpec, build: Callable[[], T]) -> T:
    if find_spec("langchain") is None:
        raise ModelMissing(
            f"{spec} is none of openai, local and chroma: other providers come through LangChain. "
            f"Is {spec.provider!r} spelt right? "
            f'Then run `pip install "zomem-graph[agents]" langchain-{spec.provider}`.'
        )
    try:
        with provider_errors(str(spec)):
            return build()
    except ModelError as error:
        cure = f"Is the provider spelt right, its package installed (langchain-{spec.provider}), its key set?"
        raise ModelMissing(f"{error} {cure}") from error
