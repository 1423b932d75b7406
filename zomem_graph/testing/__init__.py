"""What tests and demos use instead of clocks, models and providers; public, for your tests too.

Nothing here needs a key or a network. The scripted LangChain model is in
`zomem_graph.testing.langchain`, which imports LangChain.
"""

from zomem_graph.testing.chat import ScriptedChat
from zomem_graph.testing.clock import FixedClock
from zomem_graph.testing.embedder import SmallEmbedder
from zomem_graph.testing.server import (
    Answer,
    Garbage,
    Hang,
    Received,
    Refusal,
    ScriptedOpenAIServer,
    rate_limited,
)

__all__ = [
    "Answer",
    "FixedClock",
    "Garbage",
    "Hang",
    "Received",
    "Refusal",
    "ScriptedChat",
    "ScriptedOpenAIServer",
    "SmallEmbedder",
    "rate_limited",
]
