"""Brief somebody who begins a session: conventions, what is under way, open, new, and from the team (spec F149)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from zomem_graph.nodes.flow import Failed, Flow, Question, attempt, work
from zomem_graph.nodes.options import BriefingOptions
from zomem_graph.nodes.ports import ChatModel, Reply, Services
from zomem_graph.nodes.prompts import briefing_ask
from zomem_graph.nodes.rules.briefing import Point, about, first_of_all, told
from zomem_graph.nodes.rules.budget import tokens, trim
from zomem_graph.nodes.rules.fence import Line, fence
from zomem_graph.nodes.rules.given import if_given, name_of
from zomem_graph.nodes.rules.replies import without_thinking
from zomem_graph.nodes.rules.secrets import redact
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.steps.access import readable, writable
from zomem_graph.nodes.steps.checkpoints import known_tasks
from zomem_graph.nodes.steps.lapse import lapse
from zomem_graph.stores.records import Fact
from zomem_graph.stores.unit import Unit

__all__ = ["Briefing", "brief"]

_LONGEST_POINT = 60  # tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """A short text, one priority, and what both rest on.

    `block` is the text fenced as data for a prompt, "" when there is nothing to say.
    """

    persona: str
    text: str
    priority: str
    block: str
    points: tuple[Point, ...] = ()
    made_at: datetime
    method: str = "rules"
    degraded: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """What the block costs."""
        return tokens(self.block) if self.block else 0


def brief(
    services: Services, scope: Scope, *, domain: str | None = None, options: BriefingOptions | None = None
) -> Flow[Briefing]:
    """Return the briefing of a persona, about a domain when one is named.

    A chat model of the workload "briefing" puts it into a few sentences; what it gets wrong is left as it was.
    """
    if_given(name_of, "domain", domain)
    chosen = options or services.options.briefing
    now = services.clock()
    late = yield from work(lambda: lapse(services))
    points = yield from work(lambda: _points(services, scope, chosen, domain, now))
    first = first_of_all(points)
    text, method, notes = told(points), "rules", [] if late is None else [late]
    model = services.chat("briefing") if points else None
    if model is not None:
        said = yield from attempt(_asked(model, text, chosen))
        if isinstance(said, Failed):
            notes.append(f"briefing by rules: {said.error}")
        elif fault := _fault(said.text, text):
            notes.append(f"briefing by rules: {fault}")
        else:
            text, method = redact(without_thinking(said.text).strip())[0], f"{said.provider}:{said.model}"
    priority = first.text if first is not None else ""
    lines = [Line(text=line) for line in text.splitlines() if line.strip()]
    lines += [Line(text=priority, kind="first of all")] if priority else []
    return Briefing(
        persona=scope.persona,
        text=text,
        priority=priority,
        block=fence(lines, zone=scope.zone),
        points=tuple(points),
        made_at=now,
        method=method,
        degraded=tuple(notes),
    )


def _points(
    services: Services, scope: Scope, options: BriefingOptions, domain: str | None, now: datetime
) -> list[Point]:
    with services.stores.read() as unit:
        own, everybody = list(writable(scope)), list(readable(unit, scope))
        others = [persona for persona in everybody if persona not in own and persona != SHARED]
        found = [
            *(_fact(fact.id, "convention", fact.text, fact.created_at) for fact in _conventions(unit, own, options)),
            *(_fact(fact.id, "task", fact.text, fact.created_at) for fact in known_tasks(unit, own, now)[:1]),
            *_loops(unit, own, options, domain, now),
            *_episodes(unit, own, options, domain, now),
            *(
                Point(kind="summary", id=one.id, text=one.summary, at=one.last_at)
                for one in unit.summaries.newest(own, limit=options.summaries)
            ),
            *(
                _fact(fact.id, "inherited", fact.text, fact.created_at)
                for fact in unit.facts.weightiest(others, limit=options.inherited, now=now)
            ),
        ]
    return [_short(point) for point in about(found, domain)]


def _conventions(unit: Unit, personas: Sequence[str], options: BriefingOptions) -> Sequence[Fact]:
    return unit.facts.weightiest(personas, category="convention", limit=options.conventions)


def _loops(
    unit: Unit, personas: Sequence[str], options: BriefingOptions, domain: str | None, now: datetime
) -> list[Point]:
    waiting = unit.loops.waiting(personas, now=now, without_trust="import", limit=options.looks)
    points = [
        Point(kind="loop", id=loop.id, text=loop.title, at=loop.updated_at, weight=loop.priority) for loop in waiting
    ]
    return sorted(about(points, domain), key=lambda point: -point.weight)[: options.loops]


def _episodes(
    unit: Unit, personas: Sequence[str], options: BriefingOptions, domain: str | None, now: datetime
) -> list[Point]:
    since = now - timedelta(days=options.days)
    lately = unit.episodes.newest(personas, since=since, without_trust="import", limit=options.looks)
    points = [
        Point(
            kind="episode",
            id=one.id,
            text=f"{one.summary} ({one.outcome})",
            at=one.happened_at,
            outcome=one.outcome,
        )
        for one in lately
    ]
    return about(points, domain)[: options.episodes]


def _fact(id_: str, kind: str, text: str, at: datetime) -> Point:
    return Point(kind=kind, id=id_, text=text, at=at)


def _short(point: Point) -> Point:
    text = trim(point.text, (), _LONGEST_POINT) or point.text
    return Point(kind=point.kind, id=point.id, text=text, at=point.at, weight=point.weight, outcome=point.outcome)


def _asked(model: ChatModel, text: str, options: BriefingOptions) -> Flow[Reply]:
    ask = briefing_ask(text, max_tokens=options.max_tokens, deadline_seconds=options.deadline_seconds)
    reply: Reply = yield Question(model, ask)
    return reply


def _fault(said: str, given: str) -> str | None:
    answer = without_thinking(said).strip()
    if not answer:
        return "the model said nothing"
    return "the model's is no shorter" if len(answer) >= len(given) else None
