"""Which folder or archive this is: known by where it lies and, after a move, by what it holds.

Notes are recorded under the name of their place. A place taken for another one would end that one's texts; one
that is not known again would keep the old texts beside the new.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from zomem_graph.importers.places import Place
from zomem_graph.stores.identity import content_hash
from zomem_graph.stores.imports import PLACES
from zomem_graph.stores.records import ImportRecord
from zomem_graph.stores.unit import Unit

__all__ = ["Roots"]

_MOST_PATHS: Final = 200  # that are compared to tell whether a place was moved


@dataclass(slots=True)
class Roots:
    """Where the places lie that a persona's imports of one family came from, by the name each is known by."""

    persona: str
    family: str
    by_name: dict[str, Path] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    def read(self, unit: Unit) -> None:
        """Learn which places are known; of one whose path was forgotten only hashes are."""
        records = unit.imports.all_of(self.persona, self.family + PLACES)
        self.by_name = {name: Path(path) for record in records for name, path in record.parts}
        self.digests = {record.item: record.digest for record in records}

    def name_of(self, place: Place) -> str | None:
        """Return the name of a place that still lies where it did."""
        root = content_hash(str(place.root))
        names = [*self.by_name, *_names(place)]
        return next((name for name in names if self.digests.get(content_hash(name)) == root), None)

    def name_before(self, unit: Unit, place: Place, sample: Iterable[tuple[str, str]]) -> str | None:
        """Return the name of the place that was moved or renamed to become this one.

        It is not where it was. It had the same name and one path in common, or half of the texts by path.
        """
        gone = [name for name, root in self.by_name.items() if not root.exists()]
        if not gone:
            return None
        alike = [name for name in gone if name.rpartition("/")[2] == place.name]
        return self._by_paths(unit, alike, place) or self._by_texts(unit, gone, [*sample])

    def free_name(self, place: Place) -> str:
        """Return a name that no other place has: its own, with as many folders before it as that takes."""
        names = _names(place)
        return next((name for name in names if content_hash(name) not in self.digests), names[-1])

    def put(self, unit: Unit | None, name: str, place: Place, *, now: datetime) -> None:
        """Record where a place lies now; without a unit only here."""
        self.by_name[name] = place.root
        if unit is None:
            return
        unit.imports.save(
            ImportRecord(
                persona=self.persona,
                source=self.family + PLACES,
                item=content_hash(name),
                digest=content_hash(str(place.root)),
                parts=[[name, str(place.root)]],
                first_at=now,
                last_at=now,
            )
        )

    def has_left(self, place: Place, id_: str, path: str) -> bool:
        """Return whether the file of a note, by its id and its path in its place, is certainly not there any more."""
        name = id_.removesuffix(f"/{path}")
        if name == place.name:
            return not place.holds(path)
        root = self.by_name.get(name)
        return root is not None and not (root / path).exists() and not root.is_file()

    def _by_paths(self, unit: Unit, names: Sequence[str], place: Place) -> str | None:
        """Return the name under which most paths of a place are known."""
        items = _items(names, [file.name for file in place.files[:_MOST_PATHS]])
        known = unit.imports.known(self.persona, self.family, [*items])
        return next((name for name, _count in Counter(items[item] for item in known).most_common(1)), None)

    def _by_texts(self, unit: Unit, names: Sequence[str], sample: Sequence[tuple[str, str]]) -> str | None:
        """Return the name under which half of the sample or more is known, by path and text."""
        items = _items(names, [path for path, _digest in sample])
        same = Counter(
            items[record.item]
            for digest in {digest for _path, digest in sample}
            for record in unit.imports.alike(self.persona, self.family, digest)
            if record.item in items
        )
        return next((name for name, count in same.most_common(1) if 2 * count >= len(sample)), None)


def _names(place: Place) -> list[str]:
    parts = place.root.parts[1:] or (place.name,)
    return [place.name, *("/".join(parts[-depth:]) for depth in range(2, len(parts) + 1))]


def _items(names: Sequence[str], paths: Sequence[str]) -> Mapping[str, str]:
    return {content_hash(f"{name}/{path}"): name for name in names for path in paths}
