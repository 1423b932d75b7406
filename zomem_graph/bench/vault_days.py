"""Simulated nights of a vault: when facts fade, how long pages get, whether every file is whole.

Sessions are labelled: one JSON object a line with `messages` and, for each section of a daily page, the phrases that
must stand in one of its entries (`facts`, `decisions`, `preferences`, `actions`).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import log2
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from zomem_graph.bench.homes import Say, kept_folder
from zomem_graph.stores.errors import InvalidInput
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.vault import Vault

__all__ = ["extraction", "labelled_sessions", "nights"]

_SECTIONS: Final = {
    "facts": "Facts Learned",
    "decisions": "Decisions Made",
    "preferences": "Preferences Noted",
    "actions": "Action Items",
}
_BEGIN: Final = datetime(2026, 1, 5, 0, 30, tzinfo=UTC)
_WITNESS: Final = {"subject": "witness buoy", "predicate": "depth", "object": "41 metres"}
_SEED: Final = 7


def labelled_sessions(path: Path) -> list[Mapping[str, Any]]:
    """Return the labelled sessions of a file; raise InvalidInput when it cannot be read."""
    try:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON lines: {error}.") from error


def extraction(sessions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return precision and recall of the daily pages, each session told on a day of its own."""
    clock = FixedClock(_BEGIN)
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    with kept_folder(None) as folder, _opened(folder, clock) as vault:
        for session in sessions:
            clock.advance(days=1)
            _write(folder, session, clock(), 0)
            vault.summarize()
            wrong += _compare(folder, clock(), [session], tally)
    return {"sessions": len(sessions), **_figures(tally), "wrong_entries": wrong}


def nights(sessions: Sequence[Mapping[str, Any]], *, count: int, a_night: int, say: Say) -> dict[str, Any]:
    """Live through `count` nights with `a_night` sessions each and return what held."""
    clock, chance = FixedClock(_BEGIN), Random(_SEED)
    tally: Counter[str] = Counter()
    witness: list[tuple[int, float]] = []
    longest, faults, archived_on = 0, [], None
    with kept_folder(None) as folder, _opened(folder, clock) as vault:
        name = vault.ingest([_WITNESS])["fact_ids"][0]
        for night in range(1, count + 1):
            said = [chance.choice(sessions) for _ in range(a_night)]
            for number, session in enumerate(said):
                _write(folder, session, clock() + timedelta(hours=8), number)
            clock.advance(days=1)
            vault.consolidate()
            _compare(folder, clock() - timedelta(days=1), said, tally)
            longest = max(longest, len((folder / "data/MEMORY.md").read_text("utf-8").splitlines()))
            faults += [f"night {night}: {fault}" for fault in _faults(folder)]
            entry = _entry(folder, name)
            if entry["band"] != "archived":
                witness.append((night, entry["activation"]))
            elif archived_on is None:
                archived_on = night
            if night % 30 == 0:
                say(f"night {night} of {count}")
        held = vault.status()["health"]
    return {
        "nights": count,
        "sessions_a_night": a_night,
        "half_on_day": _half(witness),
        "archived_on_night": archived_on,
        "archive_expected_on_day": round(30 * log2(1 / 0.05), 2),
        "memory_md_most_lines": longest,
        "nights_with_a_fault": len(faults),
        "faults": faults[:10],
        "daily_pages": _figures(tally),
        "facts_in_the_end": held["total_facts"],
        "archived_in_the_end": held["archived_facts"],
    }


def _opened(folder: Path, clock: FixedClock) -> Vault:
    return Vault.open(folder / "data", home=folder / "home", embeddings=SmallEmbedder(), clock=clock)


def _write(folder: Path, session: Mapping[str, Any], at: datetime, number: int) -> None:
    """Write a session log, as an agent would."""
    begun = at + timedelta(minutes=20 * number)
    path = folder / "data/sessions" / f"{begun:%Y-%m-%d-%H%M%S}.jsonl"
    lines = [
        json.dumps({**message, "timestamp": (begun + timedelta(seconds=20 * place)).isoformat()})
        for place, message in enumerate(session["messages"])
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _compare(folder: Path, day: datetime, sessions: Sequence[Mapping[str, Any]], tally: Counter[str]) -> list[str]:
    """Count what of the labels stands on a day's page, and what stands there without a label."""
    page = _page(folder / "data/daily" / f"{day:%Y-%m-%d}.md")
    wrong: list[str] = []
    for kind, section in _SECTIONS.items():
        labels = {str(label).casefold() for session in sessions for label in session[kind]}
        entries = page.get(section, [])
        right = [entry for entry in entries if any(label in entry.casefold() for label in labels)]
        found = [label for label in labels if any(label in entry.casefold() for entry in entries)]
        tally[f"{kind} entries"] += len(entries)
        tally[f"{kind} right"] += len(right)
        tally[f"{kind} labels"] += len(labels)
        tally[f"{kind} found"] += len(found)
        wrong += [f"{section}: {entry}" for entry in entries if entry not in right]
        wrong += [f"missed in {section}: {label}" for label in labels if label not in found]
    return wrong


def _page(path: Path) -> dict[str, list[str]]:
    if not path.is_file():
        return {}
    page: dict[str, list[str]] = {}
    section = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("- "):
            page.setdefault(section, []).append(line[2:])
    return page


def _figures(tally: Mapping[str, int]) -> dict[str, Any]:
    kinds = {kind: _pair(tally, [kind]) for kind in _SECTIONS}
    return {**_pair(tally, list(_SECTIONS)), "by_section": kinds}


def _pair(tally: Mapping[str, int], kinds: Sequence[str]) -> dict[str, Any]:
    total = {
        name: sum(tally.get(f"{kind} {name}", 0) for kind in kinds)
        for name in ("entries", "right", "labels", "found")
    }
    return {
        "precision": round(total["right"] / total["entries"], 3) if total["entries"] else None,
        "recall": round(total["found"] / total["labels"], 3) if total["labels"] else None,
        "entries": total["entries"],
        "labels": total["labels"],
    }


def _half(witness: Sequence[tuple[int, float]]) -> float | None:
    """Return the day on which the witness was half as active, between the two nights around it."""
    for (before, high), (after, low) in pairwise(witness):
        if high > 0.5 >= low:
            share = log2(high / 0.5) / log2(high / low)
            return round(before + share * (after - before), 3)
    return None


def _entry(folder: Path, name: str) -> Mapping[str, Any]:
    said = json.loads((folder / "data/activation-metadata.json").read_text("utf-8"))
    found: Mapping[str, Any] = said["facts"][name]
    return found


def _faults(folder: Path) -> list[str]:
    """Return which files of a vault are not as they should be."""
    data = folder / "data"
    found: list[str] = []
    for path in (*data.glob("knowledge-graph/*.jsonl"), data / "embeddings/metadata.jsonl"):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
            if line and not isinstance(_json(line), dict):
                found.append(f"{path.name} line {number}")
    for path in (data / "activation-metadata.json", data / "health.json"):
        if not isinstance(_json(path.read_text("utf-8")), dict):
            found.append(path.name)
    rows = sum(1 for line in (data / "embeddings/metadata.jsonl").read_text("utf-8").split("\n") if line)
    vectors = np.fromfile(data / "embeddings/index.bin", dtype=np.float32).size
    if rows * 64 != vectors:
        found.append("index.bin does not fit metadata.jsonl")
    if len((data / "MEMORY.md").read_text("utf-8").splitlines()) > 200:
        found.append("MEMORY.md is too long")
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
