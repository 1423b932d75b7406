"""The front door: `Memory.open()`, then remember, observe, search, recall, capture.

Every method is a short call into one step of `zomem_graph.nodes.steps`; the async ones drive the same
steps without blocking the event loop. What a call needs is imported by that call, because a hook on every
message pays for each module; importing this one loads neither LangGraph nor Chroma.
"""

import asyncio
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from zomem_graph.asking import (
    RecallWords,
    SearchWords,
    as_hits,
    aware,
    clock_given,
    new_fact,
    recall_request,
    search_query,
    telling_which,
)
from zomem_graph.background import Background
from zomem_graph.belonging import Belonging
from zomem_graph.care import Care
from zomem_graph.earlier_work import EarlierWork
from zomem_graph.importers.into_memory import TakesImports
from zomem_graph.learning import Learning
from zomem_graph.models import resolve_embedder
from zomem_graph.models.call_log import FileLog, Recorder
from zomem_graph.models.chats import check_chat_model
from zomem_graph.models.workloads import Chats
from zomem_graph.nodes.flow import Flow, arun, run
from zomem_graph.nodes.options import HydeOptions, MemoryOptions
from zomem_graph.nodes.ports import ChatModel, Clock, Embedder
from zomem_graph.nodes.rules.given import callback, flag, if_given, listed, of_kind
from zomem_graph.nodes.scope import SHARED, Scope, scope_given
from zomem_graph.nodes.steps.hyde import ImaginedAnswers
from zomem_graph.nodes.steps.uses import count_returned
from zomem_graph.nodes.values import Hits, Recollection
from zomem_graph.reach import Reach
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import Closed, ZomemError
from zomem_graph.stores.records import Fact
from zomem_graph.stores.retry import written
from zomem_graph.stores.store import Home, Stores
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vector_cache import SqlVectorCache
from zomem_graph.teamwork import Teamwork
from zomem_graph.truth import Truth

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from zomem_graph.health import HealthReport
    from zomem_graph.nodes.steps.new_fact import NewFact
    from zomem_graph.nodes.steps.remember import Stored

__all__ = ["Memory"]


def _now() -> datetime:
    return datetime.now(UTC)


class Memory(TakesImports, Belonging, Care, EarlierWork, Learning, Reach, Teamwork, Truth):
    """One memory in one folder (or on servers); safe to share between threads and event loops."""

    def __init__(
        self,
        stores: Stores,
        settings: Settings,
        *,
        embedder: Embedder | None,
        chat_model: "str | BaseChatModel | ChatModel | None",
        clock: Clock,
        options: MemoryOptions,
        strict_scope: bool,
        notes: tuple[str, ...],
    ) -> None:
        self.stores = stores
        self.settings = settings
        self.embedder = embedder
        self.clock = clock
        self.options = options
        self.strict_scope = strict_scope
        self.call_log = stores.home.call_log
        recorder = Recorder(FileLog(self.call_log), stores.ledger.add)
        self._chats = Chats(chat_model, settings, log=recorder, clock=clock)
        self._notes = notes
        self.imagined = ImaginedAnswers()
        self._closed = False
        self.background = Background(self)
        self.background.begin()

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        *,
        database_url: str | None = None,
        chroma_url: str | None = None,
        embeddings: "str | Embedder | Embeddings | None" = None,
        chat_model: "str | BaseChatModel | ChatModel | None" = None,
        clock: Clock | None = None,
        strict_scope: bool = False,
        options: MemoryOptions | None = None,
    ) -> "Memory":
        """Open or create a memory; also a context manager.

        `home`: the argument, else ZOMEM_HOME, else ~/.zomem. `embeddings` and `chat_model`: "provider:model" or a
        LangChain object. `clock` returns aware datetimes. With `strict_scope` a graph run that names no persona is
        refused, and so is a change of a persona's thing. Raises ZomemError with what to do.
        """
        from zomem_graph.stores.journal import EMBEDDER_KEY

        strict_scope = flag("strict_scope", strict_scope)
        if_given(of_kind, "options", options, kind=MemoryOptions)
        check_chat_model(chat_model)
        settings = Settings.load(home, database_url=database_url, chroma_url=chroma_url)
        now = _now if clock is None else clock_given(clock)
        place = Home(settings.home, settings.database_file, settings.checkpoint_dir)
        stores = Stores.open(place, database_url=settings.database_url, chroma_url=settings.chroma_url, now=now)
        try:
            with stores.read() as unit:
                recorded = unit.journal.meta(EMBEDDER_KEY)
            cache = SqlVectorCache(stores.database, now)
            embedder, notes = resolve_embedder(embeddings, settings, recorded=recorded, cache=cache)
        except ZomemError:
            stores.close()
            raise
        return cls(
            stores,
            settings,
            embedder=embedder,
            chat_model=chat_model,
            clock=now,
            options=options or MemoryOptions(hyde=HydeOptions(on=settings.hyde_default)),
            strict_scope=strict_scope,
            notes=notes,
        )

    # -- writing -------------------------------------------------------------------------------

    def remember(
        self,
        entity: str,
        key: str | None,
        value: str,
        *,
        persona: str = SHARED,
        category: str = "fact",
        tier: str = "stable",
        importance: float | None = None,
        confidence: float | None = None,
        source: str = "api",
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        many: bool | None = None,
        allow_secret: bool = False,
        on_conflict: str | None = None,
        mentions: Sequence[str] = (),
    ) -> Fact:
        """Store one fact and return it; a new value of a single-valued key supersedes the old one.

        `importance` is 0-2 and `confidence` 0-1; a new fact has 1 where none is given. A known fact told again
        takes what is told with it: new metadata is merged into its own, and importance, confidence and text that are
        given, and a category and tier other than the usual ones, take the place of what it had.
        `on_conflict` does otherwise: merge, flag or pending. `mentions` are names it speaks of beyond those its text
        shows, for hops to follow: a resolved "he". Raises InvalidInput or SecretRefused; then nothing was changed.
        What is odd but kept (an unknown category or tier, a value that swings) warns.
        """
        from zomem_graph.nodes.steps.new_fact import NewFact

        fact = NewFact(
            entity=entity,
            key=key,
            value=value,
            persona=persona,
            category=category,
            tier=tier,
            importance=importance,
            confidence=confidence,
            source=source,
            text=text,
            metadata={} if metadata is None else metadata,
            many=many,
            allow_secret=allow_secret,
            on_conflict=on_conflict,
            mentions=mentions,
        )
        return self._remember([fact.checked(self.options.write)])[0]

    def remember_many(self, items: Iterable[Mapping[str, Any]]) -> list[Fact]:
        """Store facts given as dicts with the names of `remember`, all or none; return each as the batch left it."""
        facts = []
        for number, item in enumerate(listed("items", items, of="dicts")):
            fact = new_fact(item, number)
            with telling_which(number, fact.entity):
                facts.append(fact.checked(self.options.write))
        return self._remember(facts)

    def _remember(self, checked: "Sequence[NewFact]") -> list[Fact]:
        from zomem_graph.nodes.steps.remember import as_they_stand, store_facts

        self._check_open()
        for persona in {fact.persona for fact in checked}:
            Scope(persona=persona)

        # The time is taken inside: of two writers the later one to come in is the later one to have said it.
        def store(unit: Unit) -> "list[Stored]":
            now = self.clock()
            unit.care.in_use(now)
            return as_they_stand(unit, store_facts(unit, self, checked, now=now))

        stored = written(self.stores, store)
        self.wrote([one.fact.id for one in stored])
        for note in dict.fromkeys(note for one in stored for note in one.notes):
            warnings.warn(note, stacklevel=3)
        return [one.fact for one in stored]

    async def aremember(self, entity: str, key: str | None, value: str, **named: Any) -> Fact:
        """Do the same as `remember` without blocking the event loop."""
        return await asyncio.to_thread(self.remember, entity, key, value, **named)

    # -- reading -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        scope: Scope | None = None,
        history: Sequence[Any] = (),
        kinds: Sequence[str] | None = None,
        limit: int = 10,
        hyde: bool | str | None = None,
        graph: bool = True,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        include_superseded: bool = False,
        probe: bool = False,
    ) -> Hits:
        """Return what answers a question, best first; every string is a legal question.

        `history` are the messages before it: a question that leans on them is searched for together with them,
        and what they say already is not brought up again. `hyde`: True or False for an imagined answer by the chat
        model, or your own imagined answer as text; by default the settings decide. `graph=False` leaves links out.
        Times bound the creation, closed-open. What is returned counts as used; with `probe`, for checks, none does.
        """
        self._check_open()
        words = SearchWords(
            scope=scope,
            history=history,
            kinds=kinds,
            limit=limit,
            hyde=hyde,
            graph=graph,
            since=since,
            until=until,
            as_of=as_of,
            include_superseded=include_superseded,
            probe=probe,
        )
        return run(self._search(query, words))

    async def asearch(self, query: str, **words: Unpack[SearchWords]) -> Hits:
        """Do the same as `search` without blocking the event loop."""
        self._check_open()
        return await arun(self._search(query, words))

    def _search(self, query: str, words: SearchWords) -> Flow[Hits]:
        from zomem_graph.nodes.steps.retrieve import retrieve

        scope = scope_given(words.get("scope"))
        found = yield from retrieve(self, search_query(query, words), scope)
        note = None
        if not words.get("probe", False):
            note = yield from count_returned(self, found.hits, asked=query, kind="search", scope=scope)
        return as_hits(found if note is None else replace(found, degraded=(*found.degraded, note)))

    def recall(
        self,
        message: str,
        *,
        scope: Scope | None = None,
        history: Sequence[Any] = (),
        limit: int | None = None,
        token_budget: int | None = None,
        as_of: datetime | None = None,
        probe: bool = False,
    ) -> Recollection:
        """Decide whether a message needs memory, and if so return the block to inject.

        `history` are the messages before this one; `limit` counts hits and `token_budget` UTF-8 bytes / 4, by default
        those of `ComposeOptions`. What is injected counts as used; with `probe` (for measuring and checking) nothing
        does.
        """
        from zomem_graph.nodes.steps.recall import recall

        self._check_open()
        words = RecallWords(
            scope=scope, history=history, limit=limit, token_budget=token_budget, as_of=as_of, probe=probe
        )
        return run(recall(self, recall_request(message, words, self.options.compose)))

    async def arecall(self, message: str, **words: Unpack[RecallWords]) -> Recollection:
        """Do the same as `recall` without blocking the event loop."""
        from zomem_graph.nodes.steps.recall import recall

        self._check_open()
        return await arun(recall(self, recall_request(message, words, self.options.compose)))

    # -- care ----------------------------------------------------------------------------------

    def flush(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Wait until the index holds everything committed; return how many changes it took.

        What of the index is damaged is rebuilt. `progress` is called with (done, total) texts that were embedded.
        """
        from zomem_graph.nodes.steps.embed import feed_and_heal

        self._check_open()
        callback("progress", progress)
        self.background.embed_everything(progress)
        return feed_and_heal(self)

    def health(self, *, quick: bool = False) -> "HealthReport":
        """Check key, models, database, full text, index, schema and disk (spec F15).

        A quick look asks no model and reads no table whole: for probes that come every few seconds.
        """
        from zomem_graph.health import examine

        self._check_open()
        return examine(self, quick=flag("quick", quick))

    def stats(self, *, scope: Scope | None = None) -> dict[str, Any]:
        """Return how much of everything there is (spec F14); with a scope, of what it may read."""
        from zomem_graph.health import count_everything, count_readable

        self._check_open()
        return count_everything(self) if scope is None else count_readable(self, scope_given(scope))

    def metrics(self, *, since: datetime | None = None, persona: str | None = None) -> dict[str, Any]:
        """Return how memory fares: times, hit rates, the gate, captures, model calls and their cost (spec F81).

        With a persona, what was done and is kept for that one; model calls belong to nobody.
        """
        from zomem_graph.metrics import take_measure

        self._check_open()
        if persona is not None:
            Scope(persona=persona)
        return take_measure(self, since=aware("since", since), persona=persona)

    def verify(self) -> dict[str, Any]:
        """Compare the index with the database, ids and vectors; change nothing."""
        from zomem_graph.health import verify_store

        self._check_open()
        return verify_store(self)

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
        """Bring full text and index back in step with the tables; return what was done.

        `progress` is called with (done, total) vectors.
        """
        from zomem_graph.health import repair_store

        self._check_open()
        callback("progress", progress)
        return repair_store(self, progress=progress)

    def close(self) -> None:
        """Embed, index and extract what waits, within reason, then release everything."""
        from zomem_graph.nodes.steps.metrics import write_metrics

        if self._closed:
            return
        self.background.close()
        write_metrics(self)
        self._closed = True
        self.stores.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # -- what steps need (nodes.ports.Services) ------------------------------------------------

    def chat(self, workload: str, *, named: str | None = None) -> ChatModel | None:
        """Return the chat model of a workload, or None when there is none; `named` ("provider:model") wins."""
        return self._chats.of(workload, named=named)

    def standing_notes(self) -> tuple[str, ...]:
        """Return what is missing for good, for `degraded`."""
        return self._notes

    def _change_over(self, embedder: Embedder) -> None:
        """Use another embedder from now on; `change_embedder` is the way in."""
        self.embedder, self._notes = embedder, ()

    def wrote(self, ids: Sequence[str]) -> None:
        """Tell the background worker which items were written."""
        self.background.wrote(ids)

    def wake_worker(self) -> None:
        """Tell the background worker that something waits."""
        self.background.wake()

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("This memory was closed. Open it again with Memory.open(home).")
