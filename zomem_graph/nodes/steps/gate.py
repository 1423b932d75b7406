"""Decide whether a message needs memory: by its words, else by what memory itself holds."""

from datetime import datetime

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.cues import Verdict, judge, read_cues
from zomem_graph.nodes.scope import Scope
from zomem_graph.nodes.values import GateVerdict, Recollection
from zomem_graph.stores.identity import content_hash, new_id
from zomem_graph.stores.records import GateDecision
from zomem_graph.stores.unit import Unit

__all__ = ["EXIT_CODES", "decide_by_words", "log_decision"]

EXIT_CODES = {"inject": 0, "skip": 2, "empty": 3}  # spec 2.6; 1 is an error
_DECISIONS = {Verdict.SKIP: "skip", Verdict.UNSURE: "look"}


def decide_by_words(message: str) -> GateVerdict:
    """Return what the words of a message alone say: skip it, recall, or look into memory first."""
    cues = read_cues(message)
    judgement = judge(cues)
    continuation = judgement.verdict is Verdict.CONTINUE
    decision = _DECISIONS.get(judgement.verdict, "recall")
    return GateVerdict(
        decision=decision,  # type: ignore[arg-type]  # one of the three by the table above
        method="continuation" if continuation else "words",
        reason=judgement.reason,
        continuation=continuation,
        question=cues.is_question,
        keywords=cues.keywords,
    )


def log_decision(
    unit: Unit,
    services: Services,
    message: str,
    scope: Scope,
    verdict: GateVerdict,
    answer: Recollection,
    started: datetime,
) -> None:
    """Write one decision down, with the message as a hash only (spec T20)."""
    now = services.clock()
    unit.journal.decided(
        GateDecision(
            id=new_id(),
            persona=scope.persona,
            decision=answer.decision,
            method=answer.method,
            reason=answer.reason,
            exit_code=EXIT_CODES[answer.decision],
            latency_ms=(now - started).total_seconds() * 1000,
            message_hash=content_hash(message),
            keywords=list(verdict.keywords),
            created_at=now,
        )
    )
