"""Chat models and embedders behind the protocols of `zomem_graph.nodes.ports`.

Importing this package loads none of the providers' clients; each is loaded at its first use.
"""

from zomem_graph.models.cached import CachedEmbedder, VectorCache, text_hash
from zomem_graph.models.call_log import CallLog
from zomem_graph.models.chat import LangChainChat
from zomem_graph.models.chats import resolve_chat
from zomem_graph.models.embedders import resolve_embedder

__all__ = [
    "CachedEmbedder",
    "CallLog",
    "LangChainChat",
    "VectorCache",
    "resolve_chat",
    "resolve_embedder",
    "text_hash",
]
