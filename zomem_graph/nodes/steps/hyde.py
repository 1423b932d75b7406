"""HyDE: imagine an answer, and search with it beside the question (spec F22).

The imagined answer is embedded and blended into the question's vector, and its words are a second, lighter
words query. An answer that has nothing to do with the question is thrown away, so that a useless model
costs nothing but time; a model that is late, absent or silent costs nothing at all.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from zomem_graph.nodes.flow import Failed, Flow, Question, attempt, work
from zomem_graph.nodes.options import HydeOptions
from zomem_graph.nodes.ports import Ask, ChatModel, Embedder, Reply, Services, Vector
from zomem_graph.nodes.prompts import hyde_ask
from zomem_graph.nodes.rules.replies import ReplyUnreadable, read_imagined, shape_of
from zomem_graph.nodes.steps.query import Query
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.words import terms

__all__ = ["Imagined", "ImaginedAnswers", "imagine", "imagine_text", "may_imagine", "with_imagined"]

_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Imagined:
    """An imagined answer, its vector when there is an embedder, and what went wrong."""

    text: str = ""
    vector: Vector | None = None
    notes: tuple[str, ...] = ()


class ImaginedAnswers:
    """The latest imagined answers of one memory, by question; in memory only."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def get(self, question: str) -> str | None:
        """Return the answer imagined for this very question."""
        with self._lock:
            return self._answers.get(content_hash(question))

    def keep(self, question: str, answer: str) -> None:
        """Keep an answer; the oldest go."""
        with self._lock:
            self._answers[content_hash(question)] = answer
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)

    def clear(self) -> None:
        """Forget them all."""
        with self._lock:
            self._answers.clear()


def may_imagine(services: Services, query: Query, options: HydeOptions) -> bool:
    """Return whether an imagined answer is wanted and can be had."""
    if isinstance(query.hyde, str):
        return True
    wanted = options.on if query.hyde is None else query.hyde
    return wanted and bool(query.text.strip()) and services.chat("hyde") is not None


def imagine(services: Services, query: Query, options: HydeOptions) -> Flow[Imagined]:
    """Return an imagined answer: the caller's own, a kept one, or the model's within its deadline."""
    text = query.hyde if isinstance(query.hyde, str) else ""
    notes: tuple[str, ...] = ()
    if not text:
        text, notes = yield from _asked(services, query.text, options)
    text = _telling(text, options)
    embedder = services.embedder
    if not text or embedder is None:
        return Imagined(text=text, notes=notes)
    vector = yield from attempt(work(lambda: embedder.embed_documents([text])[0]))
    if isinstance(vector, Failed):
        return Imagined(text=text, notes=(*notes, f"hyde: {vector.error}"))
    return Imagined(text=text, vector=vector, notes=notes)


def imagine_text(services: Services, question: str, options: HydeOptions) -> Flow[tuple[str, tuple[str, ...]]]:
    """Return an imagined answer, "" for none, and why there is none."""
    if not question.strip():
        return "", ()
    if not options.on:
        return "", ("hyde: it is off",)
    if services.chat("hyde") is None:
        return "", ("hyde: there is no chat model",)
    text, notes = yield from _asked(services, question, options)
    return _telling(text, options), notes


def with_imagined(
    query: Query, vector: Vector | None, imagined: Imagined, embedder: Embedder | None, options: HydeOptions
) -> tuple[Query, Vector | None]:
    """Return the query and its vector with the imagined answer blended in, if it is about the question."""
    if not imagined.text or not _related(query, vector, imagined, embedder, options):
        return query, vector
    own = set(terms(query.text))
    words = tuple(word for word in terms(imagined.text) if word not in own)
    widened = replace(query, imagined_terms=words)
    if vector is None or imagined.vector is None:
        return widened, vector
    blended = (1.0 - options.blend) * vector + options.blend * imagined.vector
    length = float(np.linalg.norm(blended))
    return widened, (blended / length).astype(np.float32) if length > 0 else vector


def _related(
    query: Query, vector: Vector | None, imagined: Imagined, embedder: Embedder | None, options: HydeOptions
) -> bool:
    if vector is None or imagined.vector is None or embedder is None:
        return bool(set(terms(query.text)) & set(terms(imagined.text)))
    return (float(vector @ imagined.vector) - embedder.usual) / embedder.spread >= options.least_nearness


def _telling(text: str, options: HydeOptions) -> str:
    """Return as much of an answer as is searched with; "" for one too short to say anything."""
    text = text.strip()[: options.longest]
    return text if len(text) > options.shortest else ""


def _asked(services: Services, question: str, options: HydeOptions) -> Flow[tuple[str, tuple[str, ...]]]:
    model = services.chat("hyde")
    if model is None:
        return "", ()
    if (kept := services.imagined.get(question)) is not None:
        return kept, ()
    ask = hyde_ask(question, max_tokens=options.max_tokens, deadline_seconds=options.deadline_seconds)
    answer: str | Failed = yield from attempt(_answered(model, ask, options))
    if isinstance(answer, Failed):
        return "", (f"hyde: {answer.error}",)
    services.imagined.keep(question, answer)
    return answer, ()


def _answered(model: ChatModel, ask: Ask, options: HydeOptions) -> Flow[str]:
    """Return what the model imagines; raise ReplyUnreadable for what nothing can be searched with."""
    reply: Reply = yield Question(model, ask)
    answer = read_imagined(reply.text)
    if not _telling(answer, options):
        raise ReplyUnreadable(f"the imagined answer says too little. {shape_of(reply.text)}")
    return answer
