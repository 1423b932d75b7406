"""The daily capture report: what the workspaces taught, how much memory holds, what went wrong (spec F46)."""

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.values import plain
from zomem_graph.stores.errors import StoreReadOnly
from zomem_graph.subjects.conversations import WorkspaceReport

__all__ = ["as_markdown", "daily_document", "subject_of", "write_report"]

_SUMS = ("conversations", "captured", "unchanged", "skipped", "failed", "turns", "facts", "superseded", "loops")
_MOST_FILES = 200
_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>#|"})


def daily_document(report: WorkspaceReport, stats: Mapping[str, Any], *, at: datetime) -> dict[str, Any]:
    """Return the report as plain data: `capture`, `errors`, `files` that were new, and `memory`."""
    capture = {name: getattr(report, name) for name in _SUMS}
    told = [plain(each) for each in report.files if each.outcome != "unchanged"]
    document: dict[str, Any] = plain(
        {
            "at": at,
            "since": report.since,
            "capture": capture,
            "errors": [each for each in told if each["outcome"] == "failed"],
            "files": told,
            "not_read": report.passed,
            "degraded": list(report.degraded),
            "memory": {name: stats[name] for name in ("facts", "superseded", "turns", "links", "waiting_for_index")},
        }
    )
    return document


def as_markdown(document: Mapping[str, Any]) -> str:
    """Return the report for people."""
    capture, memory = document["capture"], document["memory"]
    lines = [f"# Memory, {document['at'][:10]}", ""]
    lines += [f"- {name}: {capture[name]}" for name in _SUMS]
    lines += ["", "## What went wrong", ""]
    lines += [
        f"- {_safe(each['conversation'])}/{_safe(each['name'])}: {_safe(each['reason'])}"
        for each in document["errors"]
    ]
    lines += [f"- {_safe(line)}" for line in document["degraded"]]
    if not document["errors"] and not document["degraded"]:
        lines.append("Nothing.")
    lines += ["", "## Files", ""]
    lines += [_file_line(each) for each in document["files"][:_MOST_FILES]] or ["Nothing new."]
    if len(document["files"]) > _MOST_FILES:
        lines.append(f"- … and {len(document['files']) - _MOST_FILES} more")
    lines += ["", "## Memory", "", *(f"- {name.replace('_', ' ')}: {count}" for name, count in memory.items()), ""]
    return "\n".join(lines)


def subject_of(document: Mapping[str, Any]) -> str:
    """Return one line for a mail."""
    capture = document["capture"]
    wrong = f", {capture['failed']} failed" if capture["failed"] else ""
    learned = f"{number_of(capture['facts'], 'facts')} from {number_of(capture['captured'], 'files')}"
    return f"zomem {document['at'][:10]}: {learned}{wrong}"


def write_report(folder: Path, document: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write capture-DATE.md and capture-DATE.json into a folder, in place of earlier ones of the day."""
    texts = {".md": as_markdown(document), ".json": json.dumps(document, ensure_ascii=False, indent=2) + "\n"}
    paths = []
    for ending, text in texts.items():
        path = folder / f"capture-{document['at'][:10]}{ending}"
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_text(text, "utf-8", errors="backslashreplace")
            part.chmod(0o600)
            part.replace(path)
        except OSError as error:
            raise StoreReadOnly(f"{path} cannot be written ({error.strerror}). Choose a folder of yours.") from error
        paths.append(path)
    return paths[0], paths[1]


def _file_line(each: Mapping[str, Any]) -> str:
    why = f" ({_safe(each['reason'])})" if each["reason"] else ""
    learned = number_of(each["facts"], "facts")
    return f"- {each['outcome']}: {_safe(each['conversation'])}/{_safe(each['name'])}, {learned}{why}"


def _safe(text: str) -> str:
    """Return a name as one line in which nothing is markup."""
    return " ".join(str(text).split()).translate(_SIGNS)
