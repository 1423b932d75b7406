"""Extraction by a model: a durable queue of turns, nothing marked done that failed.

A job is settled only in the transaction that stores its facts; a crash, a timeout or a reply that
cannot be read leaves it waiting, with more time before each new try (spec F36-F42, W17). What can be read
of a broken reply is stored at once; storing it again at the next try changes nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from zomem_graph.nodes.flow import Flow, work
from zomem_graph.nodes.options import CaptureOptions
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.sources import may_tell_no_time
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.steps.episodes import Learned, tell_learned
from zomem_graph.nodes.steps.reading import Reading, as_facts, extraction_models, read_turns
from zomem_graph.nodes.steps.remember import Stored, store_facts
from zomem_graph.nodes.steps.stream import settle_provisional
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.stores.errors import ModelError
from zomem_graph.stores.identity import new_id
from zomem_graph.stores.records import Extraction, Link, Turn
from zomem_graph.stores.unit import Unit

__all__ = ["capture_state", "extract_due", "extract_now", "queue_extraction", "retry_failed"]

_MOST_ATTEMPTS = 5
_FIRST_PAUSE = timedelta(minutes=1)
_LISTED = 50
_LAST = 5  # spec F44
_LEASE = timedelta(minutes=10)
"""How long a job that somebody reads is nobody else's; a reader that dies gives it back that late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    stored: tuple[Stored, ...] = ()
    skipped: Counter[str] | None = None
    model: str = ""
    failed: str | None = None
    notes: tuple[str, ...] = ()


def queue_extraction(
    unit: Unit, turns: Sequence[Turn], scope: Scope, source: str, now: datetime, *, model: str | None = None
) -> str | None:
    """Queue new turns for the model, in the transaction that stored them; return the id of the job, if any."""
    if not any(turn.role == "user" for turn in turns):
        return None
    job = Extraction(
        id=new_id(),
        persona=scope.persona,
        thread=scope.thread,
        session=turns[0].session,
        turn_ids=[turn.id for turn in turns],
        source=source,
        model=model,
        status="waiting",
        attempts=0,
        error=None,
        not_before=now,
        created_at=now,
    )
    unit.journal.queue(job)
    return job.id


def extract_now(services: Services, report: CaptureReport, job_id: str) -> Flow[CaptureReport]:
    """Read the one job a capture has just queued, before returning (inline capture, spec F48)."""
    done = yield from _extract(services, limit=1, job_id=job_id)
    because = Counter(report.skipped_because) + Counter(done.skipped_because)
    return replace(
        report,
        facts=report.facts + done.facts,
        unchanged=report.unchanged + done.unchanged,
        superseded=report.superseded + done.superseded,
        skipped=report.skipped + done.skipped,
        skipped_because=dict(because),
        fact_ids=report.fact_ids + done.fact_ids,
        queued=1 if any(note.startswith("extraction postponed") for note in done.degraded) else 0,
        model=done.model or report.model,
        degraded=report.degraded + done.degraded,
    )


def extract_due(services: Services, *, limit: int) -> Flow[CaptureReport]:
    """Read up to `limit` waiting jobs; return what they gave. `queued` counts those still waiting.

    `model` is "" when there was nothing to read.
    """
    total = yield from _extract(services, limit=limit)
    depth = yield from work(lambda: _depth(services))
    return replace(total, queued=depth)


def retry_failed(services: Services) -> int:
    """Let jobs that were given up, and those that wait for a later try, be read again now; return how many."""
    with services.stores.write() as unit:
        count = unit.journal.retry(services.clock())
    services.wake_worker()
    return count


def capture_state(services: Services) -> dict[str, Any]:
    """Return sums over all captures, what waits for a model or was given up and why, and the last five."""
    with services.stores.read() as unit:
        jobs = unit.journal.unread(_LISTED)
        return {
            **unit.journal.capture_totals(),
            "extraction_queue": unit.journal.queue_depth(),
            "unread": [
                {
                    "id": job.id,
                    "status": job.status,
                    "persona": job.persona,
                    "session": job.session,
                    "turns": len(job.turn_ids),
                    "attempts": job.attempts,
                    "not_before": job.not_before,
                    "error": job.error,
                }
                for job in jobs
            ],
            "last": [
                {
                    "at": run.created_at,
                    "persona": run.persona,
                    "source": run.source,
                    "status": run.status,
                    "model": run.model,
                    "turns": run.turns,
                    "facts": run.facts,
                    "error": run.error,
                }
                for run in unit.journal.captures(_LAST)
            ],
        }


def _extract(services: Services, *, limit: int, job_id: str | None = None) -> Flow[CaptureReport]:
    jobs = yield from work(lambda: _claimed(services, limit, job_id))
    total = CaptureReport(model="")
    for job, turns in jobs:
        outcome = yield from _read_job(services, job, turns)
        total = _added(total, outcome)
    return total


def _claimed(services: Services, limit: int, job_id: str | None) -> list[tuple[Extraction, list[Turn]]]:
    """Take jobs that are due, so that no other process reads them too."""
    now = services.clock()
    any_model = services.chat("extraction") is not None
    with services.stores.read() as unit:
        if not unit.journal.due(now, 1, named_only=not any_model):
            return []
    with services.stores.write() as unit:
        jobs = unit.journal.due(now, limit, job_id=job_id, named_only=not any_model)
        for job in jobs:
            unit.journal.settle(job.id, not_before=now + _LEASE)
        return [(job, unit.turns.find(job.turn_ids)) for job in jobs]


def _read_job(services: Services, job: Extraction, turns: Sequence[Turn]) -> Flow[_Outcome]:
    try:
        models = extraction_models(services, job.model)
    except ModelError as error:
        reading = Reading(failed=f"{type(error).__name__}: {error}")
    else:
        reading = yield from read_turns(services, turns, models)
    outcome: _Outcome = yield from work(lambda: _settle(services, job, reading))
    if outcome.failed is None:
        scope = Scope(persona=job.persona)
        yield from work(lambda: settle_provisional(services, scope=scope, session=job.session, turn_ids=job.turn_ids))
    return outcome


def _settle(services: Services, job: Extraction, reading: Reading) -> _Outcome:
    """Store what was read; the job is done only when all of it could be read."""
    now = services.clock()
    kept, skipped = as_facts(reading, services, persona=job.persona, source=job.source)
    with services.stores.write() as unit:
        there = _times(job, unit.turns.find(job.turn_ids))  # one may have been forgotten meanwhile
        known = [replace(fact, said_at=there[fact.turn_id]) for fact in kept if fact.turn_id in there]
        read = store_facts(unit, services, known, now=now)
        stored = [one for one in read if one.outcome != "forgotten"]
        if len(stored) < len(kept):
            skipped["forgotten"] += len(kept) - len(stored)
        _link_together(unit, stored, services.options.capture, now)
        new = [one for one in stored if one.outcome != "unchanged"]
        learned = Learned(facts=[one.fact for one in new], superseded=sum(len(one.replaced) for one in new))
        tell_learned(unit, learned, persona=job.persona, session=job.session, source=job.source)
        if reading.failed is not None and len(there) < len(job.turn_ids):
            # What a provider says of a failure may repeat what it was asked, of which some is forgotten.
            reading.failed = "it failed while something of it was forgotten"
        _close(unit, job, reading, stored, skipped, now)
    return _Outcome(
        stored=tuple(stored),
        skipped=skipped,
        model=reading.model,
        failed=reading.failed,
        notes=tuple(reading.notes),
    )


def _times(job: Extraction, turns: Sequence[Turn]) -> dict[str | None, datetime | None]:
    """Return when each turn was said; None for one without a time of its own, which has that of its capture."""
    given = {id_: job.created_at + timedelta(microseconds=place) for place, id_ in enumerate(job.turn_ids)}
    undated = may_tell_no_time(job.source)
    return {turn.id: None if undated or turn.at == given[turn.id] else turn.at for turn in turns}


def _close(
    unit: Unit,
    job: Extraction,
    reading: Reading,
    stored: Sequence[Stored],
    skipped: Counter[str],
    now: datetime,
) -> None:
    """Write down how the job and its capture stand."""
    attempts = job.attempts + 1
    new = [one for one in stored if one.outcome != "unchanged"]
    gained = {
        "facts": len(new),
        "skipped": sum(skipped.values()) if reading.failed is None else 0,
        "superseded": sum(len(one.replaced) for one in new),
    }
    if reading.failed is None:
        unit.journal.settle(job.id, status="done", error=None, attempts=attempts)
        unit.journal.read_on(job.id, gained, status="done", error=None, model=reading.model)
        return
    status = "failed" if attempts >= _MOST_ATTEMPTS else "waiting"
    error = reading.failed[:500]
    later = now + _FIRST_PAUSE * 4 ** (attempts - 1)
    unit.journal.settle(job.id, status=status, attempts=attempts, error=error, not_before=later)
    unit.journal.read_on(job.id, gained, status=status, error=error, model=reading.model)


def _link_together(unit: Unit, stored: Sequence[Stored], options: CaptureOptions, now: datetime) -> None:
    """Link facts captured together, nearest first and capped, so that they never swamp the graph (W19)."""
    ids = [one.fact.id for one in stored if one.outcome != "unchanged"]
    pairs = [(a, b) for gap in range(1, len(ids)) for a, b in zip(ids, ids[gap:], strict=False)]
    unit.links.add(
        [
            Link(source_id=a, target_id=b, relation="co-captured", weight=0.5, created_at=now)
            for a, b in pairs[: options.link_pairs]
        ]
    )


def _depth(services: Services) -> int:
    with services.stores.read() as unit:
        return unit.journal.queue_depth().get("waiting", 0)


def _added(total: CaptureReport, outcome: _Outcome) -> CaptureReport:
    new = [one for one in outcome.stored if one.outcome != "unchanged"]
    skipped = outcome.skipped or Counter()
    degraded = [f"extraction postponed: {outcome.failed}"] if outcome.failed else []
    degraded += [f"extraction by another model: {note}" for note in outcome.notes if not outcome.failed]
    return replace(
        total,
        facts=total.facts + len(new),
        unchanged=total.unchanged + len(outcome.stored) - len(new),
        superseded=total.superseded + sum(len(one.replaced) for one in outcome.stored),
        skipped=total.skipped + sum(skipped.values()),
        skipped_because=dict(Counter(total.skipped_because) + skipped),
        fact_ids=total.fact_ids + tuple(one.fact.id for one in new),
        model=outcome.model or total.model or ("none" if outcome.failed else ""),
        degraded=(*total.degraded, *degraded),
    )
