"""`memory.conversations`: what agents left in their workspaces, found, captured and counted (spec F45)."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from zomem_graph.asking import aware, messages_in
from zomem_graph.conversations.text_form import has_speaker_lines
from zomem_graph.importers.decoding import decode
from zomem_graph.nodes.flow import run
from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.rules.given import flag, listed
from zomem_graph.nodes.rules.sources import CONVERSATION
from zomem_graph.nodes.scope import Scope, scope_given
from zomem_graph.nodes.steps.capture import CaptureRequest, capture
from zomem_graph.nodes.steps.messages import Said, to_said
from zomem_graph.nodes.values import CaptureReport
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ZomemError
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.paths import path_given
from zomem_graph.stores.records import ImportRecord
from zomem_graph.subjects.episodes import EpisodeLog
from zomem_graph.workspaces.finding import Artifact, Found, find_artifacts

__all__ = ["ArtifactReport", "Conversations", "WorkspaceReport"]

_FAMILY = "conversations"
_LAST_DAY = timedelta(hours=24)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactReport:
    """What became of one file: captured, unchanged, skipped or failed, and why."""

    conversation: str
    name: str
    outcome: str
    reason: str = ""
    turns: int = 0
    facts: int = 0
    superseded: int = 0
    loops: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceReport:
    """What a capture of workspaces did; `passed` counts files that were not read, by reason."""

    since: datetime | None
    dry_run: bool
    conversations: int = 0
    captured: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    turns: int = 0
    facts: int = 0
    superseded: int = 0
    loops: int = 0
    redacted: int = 0
    queued: int = 0
    episode_ids: tuple[str, ...] = ()
    files: tuple[ArtifactReport, ...] = ()
    passed: dict[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


class Conversations:
    """Looks through workspaces; every file is captured once, and again only when it changed."""

    def __init__(self, memory: Services, settings: Settings) -> None:
        self._memory = memory
        self._settings = settings

    def find(
        self, roots: Sequence[str | Path] | None = None, *, since: datetime | None = None, everything: bool = False
    ) -> Found:
        """Return the files worth reading, newest first; of the last 24 hours unless told otherwise.

        `roots`: folders that hold `con_…` folders, or the folder of one conversation; else ZO_CAPTURE_ROOTS.
        Raises InvalidInput when there are none.
        """
        named = listed("roots", () if roots is None else roots, of="paths")
        chosen = [path_given("each of roots", one, of="a folder") for one in named] or self._settings.capture_folders
        if not chosen:
            raise InvalidInput("No folder to look through. Give roots=[…], or set ZO_CAPTURE_ROOTS.")
        return find_artifacts(chosen, since=self._since(since, everything))

    def capture(
        self,
        roots: Sequence[str | Path] | None = None,
        *,
        since: datetime | None = None,
        everything: bool = False,
        scope: Scope | None = None,
        dry_run: bool = False,
    ) -> WorkspaceReport:
        """Capture what `find` finds: turns and facts a file, one episode a conversation that had something new."""
        dry_run = flag("dry_run", dry_run)
        who = scope_given(scope)
        found = self.find(roots, since=since, everything=everything)
        sums: Counter[str] = Counter()
        files: list[ArtifactReport] = []
        episodes: list[str] = []
        degraded: dict[str, None] = {}
        # Oldest first, so that of two values the newer file's stands.
        in_order = sorted(found.artifacts, key=lambda each: (each.conversation, each.modified, each.name))
        for name, artifacts in groupby(in_order, key=lambda each: each.conversation):
            told: list[ArtifactReport] = []
            for artifact in artifacts:
                report, learned = self._one(artifact, who, dry_run=dry_run)
                told.append(report)
                if learned is not None:
                    sums.update({key: getattr(learned, key) for key in ("redacted", "queued")})
                    degraded |= dict.fromkeys(learned.degraded)
            files += told
            if not dry_run and any(each.turns for each in told):
                episodes.append(self._tell(name, told, who))
        sums.update(each.outcome for each in files)
        for part in ("turns", "facts", "superseded", "loops"):
            sums[part] = sum(getattr(each, part) for each in files)
        return WorkspaceReport(
            since=self._since(since, everything),
            dry_run=dry_run,
            conversations=len({each.conversation for each in files}),
            episode_ids=tuple(episodes),
            files=tuple(files),
            passed=found.passed,
            degraded=tuple(degraded),
            **sums,
        )

    def stats(self) -> dict[str, int]:
        """Return how many files were captured so far."""
        with self._memory.stores.read() as unit:
            return {"files": unit.imports.count().get(_FAMILY, 0)}

    def _since(self, since: datetime | None, everything: bool) -> datetime | None:
        if flag("everything", everything):
            return None
        return aware("since", since) or self._memory.clock() - _LAST_DAY

    def _one(self, artifact: Artifact, scope: Scope, *, dry_run: bool) -> tuple[ArtifactReport, CaptureReport | None]:
        report = ArtifactReport(conversation=artifact.conversation, name=artifact.name, outcome="captured")
        try:
            raw = artifact.path.read_bytes()
            record = self._record(artifact, raw, scope)
            if (known := self._known(record, scope)) is not None:
                return replace(report, outcome="unchanged", reason=known), None
            learned = run(capture(self._memory, _request(artifact, raw, scope, dry_run=dry_run)))
            if not dry_run:
                with self._memory.stores.write() as unit:
                    unit.imports.save(record)
        except (ZomemError, OSError) as error:
            outcome = "skipped" if isinstance(error, InvalidInput) else "failed"
            return replace(report, outcome=outcome, reason=str(error)), None
        sums = {part: getattr(learned, part) for part in ("turns", "facts", "superseded", "loops")}
        return replace(report, **sums), learned

    def _record(self, artifact: Artifact, raw: bytes, scope: Scope) -> ImportRecord:
        now = self._memory.clock()
        return ImportRecord(
            persona=scope.persona,
            source=_FAMILY,
            item=content_hash(str(artifact.path)),
            digest=content_hash(raw.decode("utf-8", "backslashreplace")),
            parts=[],
            first_at=now,
            last_at=now,
        )

    def _known(self, record: ImportRecord, scope: Scope) -> str | None:
        """Return why a file need not be read, None when it must."""
        with self._memory.stores.read() as unit:
            before = unit.imports.find(scope.persona, _FAMILY, record.item)
            if before is not None and before.digest == record.digest:
                return "captured before"
            alike = unit.imports.alike(scope.persona, _FAMILY, record.digest, most=1)
        return "another file says the same" if alike else None

    def _tell(self, conversation: str, told: Sequence[ArtifactReport], scope: Scope) -> str:
        new = [each for each in told if each.turns]
        names = ", ".join(each.name for each in new[:_MOST_NAMED])
        more = f" and {len(new) - _MOST_NAMED} more" if len(new) > _MOST_NAMED else ""
        facts = sum(each.facts for each in new)
        summary = (
            f"Captured {number_of(len(new), 'files')} of conversation {conversation}: {names}{more}. "
            f"Learned {number_of(facts, 'facts')}."
        )
        episode = EpisodeLog(self._memory).create(
            summary,
            outcome=_outcome(new),
            entities=[f"conversation.{conversation}"],
            source=f"conversation-capture:{conversation}",
            metadata={"files": len(new), "facts": facts},
            scope=scope,
        )
        return episode.id


def _outcome(told: Sequence[ArtifactReport]) -> str:
    """Return how a conversation stands: what is left open is no success."""
    if any(each.loops for each in told):
        return "ongoing"
    return "resolved" if any(each.superseded for each in told) else "success"


def _said_in(artifact: Artifact, raw: bytes) -> tuple[list[Said], bool]:
    """Return the messages of a file, and whether it is a transcript.

    Prose is one message of the user's, JSON of another shape one of a tool's. What tells no time was said when
    the file last changed.
    """
    text, _note = decode(raw)
    is_json = artifact.path.suffix.lower() == ".json"
    if is_json:
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"it is no JSON: {error}") from error
    try:
        said, is_transcript = messages_in(text), is_json or has_speaker_lines(text)
    except InvalidInput:
        said, is_transcript = to_said([{"role": "tool", "name": artifact.name, "content": text}]), False
    return [
        each if each.at is not None else replace(each, at=artifact.modified, dated=False) for each in said
    ], is_transcript


def _request(artifact: Artifact, raw: bytes, scope: Scope, *, dry_run: bool) -> CaptureRequest:
    where = f"{CONVERSATION}{artifact.conversation}/{artifact.name}"
    said, is_transcript = _said_in(artifact, raw)
    return CaptureRequest(
        messages=said,
        scope=scope,
        session=where,
        source=where,
        dry_run=dry_run,
        trust=None if is_transcript else "import",
        episode=False,
        read_again=True,
    )
