"""Vaults for tests: a folder, a home, a clock that stands still, an embedder without a model."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zomem_graph.stores.records import Fact
from zomem_graph.testing import FixedClock, SmallEmbedder
from zomem_graph.vault import Vault

__all__ = ["Ground", "facts_of", "json_lines", "said"]


@dataclass
class Ground:
    """Where a test's vault lies; `open` lends it."""

    root: Path
    clock: FixedClock = field(default_factory=FixedClock)
    embedder: Any = field(default_factory=SmallEmbedder)

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def facts(self) -> Path:
        return self.data / "knowledge-graph" / "facts.jsonl"

    @property
    def archived(self) -> Path:
        return self.data / "knowledge-graph" / "archived-facts.jsonl"

    @contextmanager
    def open(self, home: str = "home", **options: Any) -> Iterator[Vault]:
        usual = {"embeddings": self.embedder, "clock": self.clock}
        with Vault.open(self.data, home=self.root / home, **(usual | options)) as vault:
            yield vault

    def session(self, name: str, *messages: tuple[str, str], **more: Any) -> Path:
        """Write a session log of (role, text) pairs."""
        path = self.data / "sessions" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps({'role': role, 'content': text, **more})}\n" for role, text in messages)
        return path

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.data / "health.json").read_text("utf-8"))
        return found

    def activations(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.data / "activation-metadata.json").read_text("utf-8"))["facts"]
        return found


def said(subject: str, predicate: str, value: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": value, **more}


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def facts_of(vault: Vault) -> dict[str, tuple[Fact, float, str, Mapping[str, Any]]]:
    """Return everything the database knows of the vault's facts, by id, for comparing two homes field by field."""
    with vault.memory.stores.read() as unit:
        pairs = unit.vault.everything()
        origins: dict[str, list[Any]] = {}
        for origin in unit.provenance.of([fact.id for fact, _row in pairs]):
            row = {name: getattr(origin, name) for name in type(origin).__slots__ if name != "id"}
            origins.setdefault(origin.fact_id, []).append(row)
        return {
            fact.id: (fact, row.activation, f"{row.as_of} {row.band}", {"origins": origins.get(fact.id)})
            for fact, row in pairs
        }
