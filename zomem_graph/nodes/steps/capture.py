"""Capture: what was said becomes turns at once, facts, loops and an episode by rule, and work for a model.

All of it is one transaction, and only turns that are new are learned from, so a replayed history
changes nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.rules.extract import Candidate, facts_in
from zomem_graph.nodes.rules.quotes import strip_recalled
from zomem_graph.nodes.rules.secrets import looks_secret
from zomem_graph.nodes.rules.sources import learned_source
from zomem_graph.nodes.scope import NOBODY, Scope
from zomem_graph.nodes.steps.episodes import Learned, tell_session
from zomem_graph.nodes.steps.extract import extract_now, queue_extraction
from zomem_graph.nodes.steps.loops import LoopsLearned, learn_loops
from zomem_graph.nodes.steps.messages import Said
from zomem_graph.nodes.steps.new_fact import NewFact
from zomem_graph.nodes.steps.observe import clean, session_of, store_turns, too_much, unstored_end, without_forgotten
from zomem_graph.nodes.steps.preview import Previewed, preview_capture
from zomem_graph.nodes.steps.reading import extraction_models
from zomem_graph.nodes.steps.remember import Stored, store_facts
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.stores.identity import content_hash, new_id
from zomem_graph.stores.records import CaptureRun, Turn
from zomem_graph.stores.retry import written
from zomem_graph.stores.unit import Unit

__all__ = ["CaptureRequest", "capture"]

_TOO_LONG = "message too long"
_BLANK = "message without words"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRequest:
    """What is to be captured, for whom, and how. `inline` waits for the model; else it reads later.

    `model` ("provider:model") reads in place of the one that is set. `episode` False leaves the telling to
    the caller. `facts` False learns none, for a history whose facts are known already. `replayed` says that the
    history comes of a run that was sent back to an earlier point. `in_a_run` is for a host's run that must go on:
    a message too long to store is left out with a note, and another writer is waited for once. `blank` messages had
    no words; the report counts them. `read_again` says that the messages stand in a file, which may say again what
    was forgotten since.
    """

    messages: Sequence[Said]
    scope: Scope
    session: str | None = None
    source: str = "api"
    dry_run: bool = False
    inline: bool = False
    trust: str | None = None
    model: str | None = None
    episode: bool = True
    facts: bool = True
    replayed: bool = False
    in_a_run: bool = False
    blank: int = 0
    read_again: bool = False


def capture(services: Services, request: CaptureRequest) -> Flow[CaptureReport]:
    """Store turns and rule-found facts; hand the new turns to the model, now or through the queue."""
    started = services.clock()
    unread = yield from work(lambda: _unread(services, request))
    left_out = [one for one in unread if request.in_a_run and too_much(one, services.options.write)]
    short = [one for one in unread if one not in left_out] if left_out else unread
    cleaned, redacted = clean(short, services.options.write)
    cleaned = _without_recalled(cleaned)
    if request.dry_run:
        asked = Previewed(
            messages=cleaned,
            scope=request.scope,
            session=request.session,
            trust=request.trust,
            redacted=redacted,
            read_again=request.read_again,
            models=extraction_models(services, request.model) if request.inline or request.model else (),
        )
        report = yield from preview_capture(services, asked)
        return _without(report, request.blank, left_out, services.options.write)
    if not extraction_models(services, request.model) and request.model is not None:
        raise InvalidInput(f"model {request.model!r:.80} is no model that could read. Name provider:model.")
    known = len(request.messages) - len(unread)
    report, job_id = yield from work(lambda: _write(services, request, cleaned, redacted, started, known))
    if request.inline and job_id is not None:
        report = yield from extract_now(services, report, job_id)
    services.wake_worker()
    report = _without(report, request.blank, left_out, services.options.write)
    return report if request.scope.named else replace(report, degraded=(*report.degraded, NOBODY))


def _without(report: CaptureReport, blank: int, left_out: Sequence[Said], options: WriteOptions) -> CaptureReport:
    """Return the report with the messages that were left out, without words or too long; the others do not wait."""
    because = dict(report.skipped_because)
    notes = []
    if blank:
        because[_BLANK] = blank
    if left_out:
        because[_TOO_LONG] = len(left_out)
    long = sum(len(message.content) > options.longest_text for message in left_out)
    if long:
        notes.append(
            f"{number_of(long, 'messages')} of more than {options.longest_text:,} characters left out; split them"
        )
    if beside := len(left_out) - long:
        notes.append(f"{number_of(beside, 'messages')} left out: the metadata, name or id is longer than is stored")
    return replace(
        report,
        skipped=report.skipped + blank + len(left_out),
        skipped_because=because,
        degraded=(*report.degraded, *notes),
    )


def _unread(services: Services, request: CaptureRequest) -> Sequence[Said]:
    with services.stores.read() as unit:
        return unstored_end(unit, request.messages, scope=request.scope, session=request.session)


def _write(
    services: Services, request: CaptureRequest, messages: Sequence[Said], redacted: int, now: datetime, known: int
) -> tuple[CaptureReport, str | None]:
    """Write everything in one transaction; return the report and the id of the job for the model, if any."""
    has_model = bool(extraction_models(services, request.model))

    def write(unit: Unit) -> tuple[CaptureReport, str | None]:
        if request.trust != "import":
            unit.care.in_use(now)
        wanted = _not_forgotten(unit, messages, request)
        turns = store_turns(
            unit,
            wanted,
            scope=request.scope,
            session=request.session,
            now=now,
            trust=request.trust,
            replayed=request.replayed,
            read_again=request.read_again,
        )
        times = {turn.id: said.said_at for turn, said in zip(turns[::-1], wanted[::-1], strict=False)}
        facts, skipped = _by_rule(unit, services, turns, request, now, times)
        if len(wanted) < len(messages):
            skipped["forgotten"] += len(messages) - len(wanted)
        loops = _loops(unit, services, turns, request, now)
        episode = _episode(unit, services, turns, facts, loops, request=request, now=now)
        job_id: str | None = None
        if has_model:
            job_id = queue_extraction(unit, turns, request.scope, request.source, now, model=request.model)
        report = CaptureReport(
            turns=len(turns),
            known=known + len(wanted) - len(turns),
            facts=sum(one.outcome != "unchanged" for one in facts),
            unchanged=sum(one.outcome == "unchanged" for one in facts),
            superseded=sum(len(one.replaced) for one in facts),
            skipped=sum(skipped.values()),
            redacted=redacted,
            queued=int(job_id is not None),
            loops=len(loops.opened),
            resolved_loops=len(loops.resolved),
            episode_id=episode,
            fact_ids=tuple(one.fact.id for one in facts if one.outcome != "unchanged"),
            turn_ids=tuple(turn.id for turn in turns),
            skipped_because=dict(skipped),
        )
        if turns:
            unit.journal.captured(_run(request, report, messages, now, services.clock(), job_id=job_id))
        return report, job_id

    return written(services.stores, write, tries=1) if request.in_a_run else written(services.stores, write)


def _by_rule(
    unit: Unit,
    services: Services,
    turns: Sequence[Turn],
    request: CaptureRequest,
    now: datetime,
    times: Mapping[str, datetime | None],
) -> tuple[list[Stored], Counter[str]]:
    skipped: Counter[str] = Counter()
    stored: list[Stored] = []
    for turn in turns if request.facts else ():
        new: list[NewFact] = []
        for candidate in _learned(turn):
            fact = replace(_as_fact(candidate, turn, request), said_at=times.get(turn.id))
            reason = _refused(fact, services)
            if reason is None:
                new.append(fact)
            else:
                skipped[reason] += 1
        for one in store_facts(unit, services, new, now=now):
            if one.outcome == "forgotten":
                skipped["forgotten"] += 1
            else:
                stored.append(one)
    return stored, skipped


def _not_forgotten(unit: Unit, messages: Sequence[Said], request: CaptureRequest) -> Sequence[Said]:
    session = session_of(request.scope, request.session)
    return without_forgotten(
        unit, messages, persona=request.scope.persona, session=session, read_again=request.read_again
    )


def _loops(
    unit: Unit, services: Services, turns: Sequence[Turn], request: CaptureRequest, now: datetime
) -> LoopsLearned:
    if not services.options.capture.loops:
        return LoopsLearned()
    options = services.options.write
    return learn_loops(unit, turns, scope=request.scope, source=request.source, options=options, now=now)


def _episode(
    unit: Unit,
    services: Services,
    turns: Sequence[Turn],
    facts: Sequence[Stored],
    loops: LoopsLearned,
    *,
    request: CaptureRequest,
    now: datetime,
) -> str | None:
    options = services.options.capture
    if not (options.episodes and request.episode):
        return None
    learned = Learned(
        facts=[one.fact for one in facts if one.outcome != "unchanged"],
        opened=loops.opened,
        resolved=loops.resolved,
        superseded=sum(len(one.replaced) for one in facts),
    )
    episode = tell_session(unit, turns, learned, scope=request.scope, source=request.source, options=options, now=now)
    return None if episode is None else episode.id


def _learned(turn: Turn) -> Sequence[Candidate]:
    speaker = None if turn.speaker == turn.role else turn.speaker
    return facts_in(turn.content, speaker=speaker, role=turn.role)


def _as_fact(candidate: Candidate, turn: Turn, request: CaptureRequest) -> NewFact:
    return NewFact(
        entity=candidate.entity,
        key=candidate.key,
        value=candidate.value,
        persona=request.scope.persona,
        category=candidate.category,
        tier=candidate.tier,
        confidence=candidate.confidence,
        source=learned_source(request.source),
        many=candidate.many,
        trust=turn.trust,
        turn_id=turn.id,
        quote=candidate.quote,
        ends=candidate.ends,
        at=turn.at,
        method="rule",
    )


def _refused(fact: NewFact, services: Services) -> str | None:
    if fact.sureness < services.options.capture.least_confidence:
        return "too unsure"
    if looks_secret(f"{fact.key or ''} = {fact.value}"):
        return "looks like a secret"
    try:
        fact.checked(services.options.write)
    except InvalidInput:
        return "cannot be stored"
    return None


def _without_recalled(messages: Sequence[Said]) -> list[Said]:
    """Return the messages without what we recalled ourselves and what a model thought aloud."""
    kept = [replace(message, content=strip_recalled(message.content)) for message in messages]
    return [message for message in kept if message.content.strip()]


def _run(
    request: CaptureRequest,
    report: CaptureReport,
    messages: Sequence[Said],
    started: datetime,
    ended: datetime,
    *,
    job_id: str | None,
) -> CaptureRun:
    """Return the log line of a capture; one a model has yet to read has the id of its job and is not done."""
    return CaptureRun(
        id=job_id or new_id(),
        persona=request.scope.persona,
        thread=request.scope.thread,
        source=request.source,
        digest=content_hash(*(message.digest for message in messages)),
        mode="inline" if request.inline else "batch",
        model=report.model,
        turns=report.turns,
        facts=report.facts,
        skipped=report.skipped,
        superseded=report.superseded,
        redacted=report.redacted,
        status="done" if job_id is None else "waiting",
        error=None,
        created_at=started,
        duration_ms=(ended - started).total_seconds() * 1000,
    )
