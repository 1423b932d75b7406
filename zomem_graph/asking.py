"""What callers pass to `Memory`, checked and read once, where it enters."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from datetime import UTC, datetime
from inspect import signature
from typing import TYPE_CHECKING, Any, TypedDict

from zomem_graph.nodes.options import ComposeOptions
from zomem_graph.nodes.ports import Clock
from zomem_graph.nodes.rules.calendar_days import in_calendar, keepable
from zomem_graph.nodes.rules.given import (
    LONGEST_SESSION,
    callback,
    flag,
    if_given,
    name_of,
    names,
    shown,
    text,
    whole,
)
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.values import Hits
from zomem_graph.stores.errors import InvalidInput

if TYPE_CHECKING:
    from zomem_graph.nodes.steps.capture import CaptureRequest
    from zomem_graph.nodes.steps.messages import Said
    from zomem_graph.nodes.steps.new_fact import NewFact
    from zomem_graph.nodes.steps.recall import RecallRequest
    from zomem_graph.nodes.steps.retrieve import Query, Retrieved

__all__ = [
    "CaptureWords",
    "RecallWords",
    "SearchWords",
    "as_hits",
    "aware",
    "capture_request",
    "clock_given",
    "messages_in",
    "new_fact",
    "recall_request",
    "search_query",
    "session_given",
    "telling_which",
]


class SearchWords(TypedDict, total=False):
    """The keywords of `Memory.search`."""

    scope: Scope | None
    history: Sequence[Any]
    kinds: Sequence[str] | None
    limit: int
    hyde: bool | str | None
    graph: bool
    since: datetime | None
    until: datetime | None
    as_of: datetime | None
    include_superseded: bool
    probe: bool


class RecallWords(TypedDict, total=False):
    """The keywords of `Memory.recall`."""

    scope: Scope | None
    history: Sequence[Any]
    limit: int | None
    token_budget: int | None
    as_of: datetime | None
    probe: bool


class CaptureWords(TypedDict, total=False):
    """The keywords of `Memory.capture`."""

    scope: Scope | None
    source: str
    session: str | None
    dry_run: bool
    inline: bool
    model: str | None
    read_again: bool


def search_query(asked: str, words: SearchWords) -> "Query":
    """Return the query of a search; raise InvalidInput for what makes no sense."""
    from zomem_graph.nodes.steps.history import leaning_on
    from zomem_graph.nodes.steps.retrieve import KINDS, Query

    _refuse_unknown(words, SearchWords)
    kinds = words.get("kinds")
    query = Query(
        text=asked,
        limit=words.get("limit", 10),
        kinds=KINDS if kinds is None else names("kinds", kinds),
        hyde=_hyde(words.get("hyde")),
        graph=flag("graph", words.get("graph", True)),
        since=aware("since", words.get("since")),
        until=aware("until", words.get("until")),
        as_of=aware("as_of", words.get("as_of")),
        include_superseded=flag("include_superseded", words.get("include_superseded", False)),
    )
    flag("probe", words.get("probe", False))
    history = _texts(words.get("history", ()))
    return leaning_on(query, asked, history) if history else query


def recall_request(message: str, words: RecallWords, usual: ComposeOptions) -> "RecallRequest":
    """Return the request of a recall, with what is `usual` where nothing is said; raise InvalidInput for nonsense."""
    from zomem_graph.nodes.steps.query import MOST_HITS
    from zomem_graph.nodes.steps.recall import RecallRequest

    _refuse_unknown(words, RecallWords)
    limit, token_budget = words.get("limit"), words.get("token_budget")
    return RecallRequest(
        message=text("message", message),
        scope=scope_given(words.get("scope")),
        history=_texts(words.get("history", ())),
        limit=whole("limit", usual.limit if limit is None else limit, least=1, most=MOST_HITS),
        token_budget=whole("token_budget", usual.token_budget if token_budget is None else token_budget, least=1),
        as_of=aware("as_of", words.get("as_of")),
        probe=flag("probe", words.get("probe", False)),
    )


def capture_request(conversation: Iterable[Any] | str, words: CaptureWords) -> "CaptureRequest":
    """Return the request of a capture.

    Plain text is read as a transcript of `Name: …` lines or as JSON; without either it is what the user said.
    """
    from zomem_graph.nodes.steps.capture import CaptureRequest
    from zomem_graph.nodes.steps.messages import read_messages

    _refuse_unknown(words, CaptureWords)
    messages, blank = (messages_in(conversation), 0) if isinstance(conversation, str) else read_messages(conversation)
    return CaptureRequest(
        messages=messages,
        blank=blank,
        scope=scope_given(words.get("scope")),
        session=session_given(words.get("session")),
        source=name_of("source", words.get("source", "api")),
        dry_run=flag("dry_run", words.get("dry_run", False)),
        inline=flag("inline", words.get("inline", False)),
        model=if_given(name_of, "model", words.get("model")),
        read_again=flag("read_again", words.get("read_again", False)),
    )


def session_given(session: str | None) -> str | None:
    """Return the name of a session, None for the usual one; raise InvalidInput for what is no name of one."""
    return if_given(text, "session", session, most=LONGEST_SESSION)


def new_fact(item: Mapping[str, Any], number: int) -> "NewFact":
    """Return one entry of `remember_many`; raise InvalidInput that names it."""
    from zomem_graph.nodes.steps.new_fact import NewFact

    if not isinstance(item, Mapping):
        raise InvalidInput(f"item {number} must be a dict, not {type(item).__name__}.")
    allowed = set(NewFact.__slots__) - {"trust", "turn_id", "quote", "ends", "at", "method", "read_again", "said_at"}
    unknown = sorted(set(map(str, item)) - allowed)
    if unknown:
        raise InvalidInput(f"item {number} has unknown names {unknown}; known are {sorted(allowed)}.")
    missing = [name for name in ("entity", "value") if name not in item]
    if missing:
        named = f" ({item['entity']!r:.60})" if "entity" in item else ""
        raise InvalidInput(f"item {number}{named} lacks {' and '.join(missing)}.")
    return NewFact(**{"key": None, **item})


@contextmanager
def telling_which(number: int, entity: object) -> Iterator[None]:
    """Say of which item of many an error speaks, counted from 0 as in the list that was given."""
    try:
        yield
    except InvalidInput as error:
        error.args = (f"item {number} ({shown(entity)}): {error}",)
        raise


def as_hits(found: "Retrieved") -> Hits:
    """Return what a search found, with what was missing and what was done."""
    return Hits(found.hits, degraded=found.degraded, trace=[found.trace])


def messages_in(text: str) -> "list[Said]":
    """Return the messages of a transcript or of JSON; a text that is neither is one message of the user's."""
    from zomem_graph.conversations.reading import is_meant_as_json, read_conversation
    from zomem_graph.conversations.text_form import has_speaker_lines
    from zomem_graph.nodes.steps.messages import to_said

    if not is_meant_as_json(text) and not has_speaker_lines(text):
        return to_said([{"role": "user", "content": text}])
    conversation = read_conversation(f"{text}\n")  # more than one line is never taken for the path of a file
    return to_said(
        {"role": message.role, "content": message.content, "name": message.name, "at": message.at}
        for session in conversation.sessions
        for message in session.messages
    )


def aware(name: str, value: datetime | None) -> datetime | None:
    """Return an aware time; a naive one is taken as UTC."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidInput(f"{name} must be a datetime, not {type(value).__name__}.")
    return in_calendar(value.replace(tzinfo=UTC) if value.tzinfo is None else value)


def clock_given(clock: Clock) -> Clock:
    """Return a clock whose every time is an aware datetime; raise InvalidInput for one that tells anything else."""
    callback("clock", clock)
    try:
        signature(clock).bind()
    except TypeError as error:
        raise InvalidInput(f"clock must be a function that takes no argument: {error}.") from error
    except ValueError:
        pass  # written in C: what it takes shows when it is called

    def now() -> datetime:
        told = clock()
        if not isinstance(told, datetime) or told.utcoffset() is None:
            raise InvalidInput(f"clock must return an aware datetime, such as datetime.now(UTC), not {shown(told)}.")
        return keepable("the time of the clock", told)

    now()
    return now


def _hyde(given: Any) -> bool | str | None:
    if given is None or isinstance(given, str):
        return given
    try:
        return flag("hyde", given)
    except InvalidInput:
        raise InvalidInput(f"hyde must be True, False or an imagined answer as text, not {shown(given)}.") from None


def _refuse_unknown(words: Mapping[str, Any], known: type) -> None:
    """Raise TypeError for a keyword there is not, as Python does where keywords are written out."""
    names_known = known.__annotations__
    for name in words:
        if name not in names_known:
            raise TypeError(f"got an unexpected keyword argument {name!r}; there are {', '.join(names_known)}")


def _texts(history: Sequence[Any] | None) -> tuple[str, ...]:
    if history is None or (isinstance(history, Sized) and len(history) == 0):
        return ()
    from zomem_graph.nodes.steps.messages import to_said

    return tuple(said.content for said in to_said(history))
