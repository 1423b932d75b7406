"""Forget for good: the rows in one transaction, then what is left outside the tables, then the proof.

An erasure that is cut short after its transaction has taken nothing back: the rows are gone, and the next
`forget` finishes the rest.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.erasing import Mark, fact_marks, needles_of, source_marks, turn_marks
from zomem_graph.nodes.steps.embed import feed_index
from zomem_graph.nodes.steps.needles import still_held
from zomem_graph.nodes.steps.selection import Wanted, said_of, select_wanted, strings_in, texts_of, things_in
from zomem_graph.nodes.steps.summaries import remove_summaries
from zomem_graph.nodes.steps.vault_erasing import clean_vault, fall_behind, vault_of
from zomem_graph.nodes.steps.vault_mentions import still_named
from zomem_graph.nodes.values import ErasureReport, Trace, plain
from zomem_graph.stores.checkpoint_files import list_checkpoints
from zomem_graph.stores.erasure import Selection
from zomem_graph.stores.errors import IndexUnavailable, StoreError
from zomem_graph.stores.proof import Needles, Scan, scan_files, scan_rows
from zomem_graph.stores.remains import (
    Cleaned,
    clean_backups,
    clean_checkpoints,
    clean_persona_files,
    home_files,
    wipe_unused_vectors,
)
from zomem_graph.stores.stems import stem
from zomem_graph.stores.summary_records import Summary
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_place import Place
from zomem_graph.stores.words import search_text

__all__ = ["Wanted", "finish_erasures", "forget"]

_ALL = 1_000_000
_PENDING = "erasure.pending"  # collections of an erasure whose rows are gone and whose rest is not done yet


@dataclass(slots=True)
class _Erased:
    """What went with the transaction, kept for the proof."""

    gone: Selection
    texts: list[str]
    vectors: tuple[bytes, ...]
    collections: list[str]
    words: frozenset[str]
    counts: dict[str, int] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The ids of all that went, with those of the summaries that were made from it."""
        return [*self.gone.ids, *self.summaries]


def forget(
    services: Services, wanted: Wanted, *, checkpoints: Path | None = None, dry_run: bool = False
) -> ErasureReport:
    """Erase what is wanted and prove it, or with `dry_run` only say what would go.

    `checkpoints` is the folder of saved checkpoints when it is not in the home. Raises UnknownName for an
    id that the persona does not own; then nothing was changed.
    """
    if dry_run:
        with services.stores.read() as unit:
            gone = select_wanted(unit, wanted)
        return ErasureReport(
            persona=wanted.persona,
            dry_run=True,
            clean=False,
            counts=_kinds(gone),
            listed=tuple(_listed(gone, with_text=True)),
            notes=("dry run: nothing was changed and nothing was scanned",),
        )
    erased = _erase_rows(services, wanted)
    left = [*_empty_index(services, erased), *services.stores.database.compact()]
    all_gone, needles, shared = _needles(services, erased)
    vault = _vault(services)
    cleaned = _clean_files(services, wanted, erased, all_gone, needles, checkpoints=checkpoints)
    if vault is not None and vault.root.is_dir():
        cleaned["vault"] = clean_vault(services, vault, needles, gone=erased.gone)
    scan = _scan(services, needles, checkpoints, vault)
    named = () if vault is None or wanted.entity is None else still_named(vault, wanted.entity)
    left += [*(note for one in cleaned.values() for note in one.notes), *scan.unread]
    if not left:
        with services.stores.write() as unit:
            unit.journal.set_meta(_PENDING, "[]")
    for name, one in cleaned.items():
        erased.counts[f"{name}_rewritten"] = len(one.rewritten)
        erased.counts[f"{name}_removed"] = len(one.removed)
    return ErasureReport(
        persona=wanted.persona,
        dry_run=False,
        clean=not (scan.found or left or named),
        counts={name: count for name, count in erased.counts.items() if count},
        listed=tuple(_listed(erased.gone, with_text=False)),
        scanned={
            "files": scan.files,
            "archive_members": scan.members,
            "rows": scan.rows,
            "bytes": scan.bytes,
            "looked_for": len(needles),
        },
        traces=tuple(Trace(place=place, form=form) for place, form in scan.found),
        named=tuple(named),
        shared=shared,
        notes=(*left, *_limits(services, vault)),
    )


def _erase_rows(services: Services, wanted: Wanted) -> _Erased:
    """Take everything out of the tables in one transaction, and leave tombstones."""
    now = services.clock()
    with services.stores.write() as unit:
        gone = select_wanted(unit, wanted)
        ids = gone.ids
        texts = [text for item in things_in(gone) for text in said_of(item)]
        summaries = _retold(unit, wanted, gone)
        summary_ids = [one.id for one in summaries]
        texts += [text for one in summaries for text in _points(one)]
        vanishing = unit.erasure.vanishing([*ids, *summary_ids])
        counts = _kinds(gone)
        counts["tombstones"] = unit.tombstones.bury(wanted.persona, _marks(gone), now=now) if ids else 0
        counts["vectors"] = len(vanishing.vectors)
        remove_summaries(unit, summaries)
        counts["summaries"] = len(summaries)
        counts |= unit.erasure.forget_traces(gone)
        _purge(unit, gone)
        counts["waiting_turns"] = unit.erasure.unqueue([*gone.turns])
        if wanted.entity is not None:
            counts["mentions"] += unit.episodes.leave(entity_key(wanted.entity), [wanted.persona])
        counts["question_vectors"] = unit.erasure.clear_question_vectors()
        unit.scrub_fulltext()
        words = _unheard_words(unit, gone)
        counts |= unit.erasure.sweep_logs(wanted.persona, _holding(words, texts))
        unit.erasure.leave_speakers(wanted.persona)
        if wanted.everything:
            left = unit.erasure.leave_persona(wanted.persona)
            counts["other_rows"] = sum(left.values()) + unit.personas.leave(wanted.persona)
        waiting = json.loads(unit.journal.meta(_PENDING) or "[]")
        collections = sorted({*waiting, *unit.erasure.collections(vanishing.places)})
        unit.journal.set_meta(_PENDING, json.dumps(collections))
        fall_behind(unit)
    return _Erased(gone, texts, vanishing.vectors, collections, words, counts, summary_ids)


def _retold(unit: Unit, wanted: Wanted, gone: Selection) -> list[Summary]:
    """Return the summaries that tell of what goes; what else they were made from is summed up anew."""
    named = unit.summaries.find(wanted.ids)
    if wanted.matching is not None:
        piece = wanted.matching.casefold()
        told = unit.summaries.newest([wanted.persona], limit=_ALL)
        named += [one for one in told if piece in "\n".join(_points(one)).casefold()]
    found = {one.id: one for one in (*named, *unit.summaries.above([*gone.episodes, *(one.id for one in named)]))}
    return list(found.values())


def _points(summary: Summary) -> list[str]:
    return [summary.summary, *summary.key_decisions, *summary.key_outcomes]


def _purge(unit: Unit, gone: Selection) -> None:
    unit.items.purge(gone.ids)
    unit.facts.purge([*gone.facts])
    unit.turns.purge([*gone.turns])
    unit.episodes.purge([*gone.episodes])
    unit.loops.purge([*gone.loops])
    unit.erasure.leave_turns([*gone.turns])
    unit.provenance.leave_turns([*gone.turns])
    unit.erasure.leave_facts(gone.facts)


def _marks(gone: Selection) -> dict[Mark, datetime | None]:
    """Return by what each thing is known when it comes again, with when it was last said."""
    marks: dict[Mark, datetime | None] = {}
    said: list[tuple[Sequence[Mark], datetime]] = [
        (
            [
                *fact_marks(fact.slot, fact.value, fact.text),
                *source_marks(fact.metadata.get("source_id")),
            ],
            fact.created_at,
        )
        for fact in gone.facts.values()
    ]
    said += [
        (
            [
                *turn_marks(turn.content, session=turn.session),
                *source_marks(turn.message_id, turn.metadata.get("source_id")),
            ],
            turn.at,
        )
        for turn in gone.turns.values()
    ]
    for known_by, at in said:
        for mark in known_by:
            before = marks.get(mark)
            marks[mark] = at if before is None else max(before, at)
    return marks


def _unheard_words(unit: Unit, gone: Selection) -> frozenset[str]:
    """Return the words of what went that nothing which is kept has."""
    words = {word for item in things_in(gone) for text in texts_of(item) for word in search_text(text).split()}
    unheard = unit.erasure.unheard(sorted(words))
    return frozenset(word for word in words if stem(word) in unheard)


def _holding(words: frozenset[str], texts: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a line of a log holds any of these words or texts."""
    needles = Needles(needles_of(texts))

    def holds(line: str) -> bool:
        if not words.isdisjoint(search_text(line).split()):
            return True
        return bool(needles.found_in(line.encode("utf-8", "surrogatepass")))

    return holds


def finish_erasures(services: Services) -> int:
    """Finish in index and database file what an erasure that was cut short had to leave; return how much that was.

    Backups and checkpoints are cleaned by the next `forget`, which knows what to look for. Raises IndexUnavailable
    or StoreError.
    """
    with services.stores.read() as unit:
        waiting = json.loads(unit.journal.meta(_PENDING) or "[]")
    if not waiting:
        return 0
    _make_anew(services, waiting)
    services.stores.database.compact()
    with services.stores.write() as unit:
        unit.journal.set_meta(_PENDING, "[]")
    return len(waiting)


def _empty_index(services: Services, erased: _Erased) -> list[str]:
    """Make the collections anew from what is kept; return what could not be done."""
    if not erased.collections:
        return []
    try:
        _make_anew(services, erased.collections)
    except (IndexUnavailable, StoreError, OSError) as error:
        return [f"the vector index still holds what was erased: {error}"]
    return []


def _make_anew(services: Services, collections: Sequence[str]) -> None:
    services.stores.index.rebuild(collections)
    feed_index(services, everything=True)
    with services.stores.index_lock.held():
        wipe_unused_vectors(services.stores.home.chroma)


def _needles(services: Services, erased: _Erased) -> tuple[Needles, Needles, int]:
    """Return all that went, the same without what kept memories say as well, and how many those are."""
    odd = sorted(word for word in erased.words if any(sign.isdigit() for sign in word))
    needles = Needles(needles_of([*erased.texts, *odd]), vectors=erased.vectors)
    with services.stores.read() as unit:
        kept = still_held(unit, needles)
    return needles, needles.without(kept), len(kept)


def _clean_files(
    services: Services,
    wanted: Wanted,
    erased: _Erased,
    all_gone: Needles,
    needles: Needles,
    *,
    checkpoints: Path | None,
) -> dict[str, Cleaned]:
    """Clean backups of what nobody kept says; the persona's own files and checkpoints of all that went."""
    home = services.stores.home
    folder = checkpoints or home.root / "checkpoints"
    return {
        "backups": clean_backups(home.backups, needles, ids=erased.ids, words=erased.words),
        "checkpoints": clean_checkpoints(folder, all_gone, named=_saved_of(wanted, folder)),
        "persona_files": clean_persona_files(
            home.root / "personas", wanted.persona, all_gone, everything=wanted.everything
        ),
    }


def _saved_of(wanted: Wanted, folder: Path) -> list[str]:
    """Return the names of the persona's checkpoints that go whatever words of memory they hold."""
    if not wanted.everything and wanted.matching is None:
        return []
    piece = (wanted.matching or "").casefold()
    return [
        f"{one.id}.json"
        for one in list_checkpoints(folder)
        if one.persona == wanted.persona and any(piece in text.casefold() for text in strings_in(plain(one)))
    ]


def _vault(services: Services) -> Place | None:
    """Return where the vault of the home is, None when it has none."""
    with services.stores.read() as unit:
        return vault_of(unit)


def _scan(services: Services, needles: Needles, checkpoints: Path | None, vault: Place | None) -> Scan:
    home = services.stores.home
    besides = [home.database_file, *([checkpoints] if checkpoints is not None else [])]
    besides += [] if vault is None else [vault.root]
    scan = scan_files(home_files(home.root, besides=besides), needles)
    with services.stores.read() as unit:
        scan_rows(unit.contents(), needles, scan)
    return scan


def _limits(services: Services, vault: Place | None) -> list[str]:
    """Return what is kept where no file of the home shows it, and so was not looked into."""
    stores = services.stores
    limits = []
    if stores.database.dialect.name != "sqlite":
        limits.append(
            f"{stores.database.place} was searched row by row and its tables were rewritten; what no client sees may "
            "hold it still: the server's write-ahead log until it is recycled, its archive, replicas and backups, "
            "and freed blocks of its disk. They are its owner's to clear"
        )
    if stores.index.state().collections and not stores.home.chroma.is_dir():
        limits.append("the Chroma server keeps files of its own; the collections in it were made anew")
    if vault is not None and not vault.root.is_dir():
        limits.append(
            f"the vault {vault.root} is not there and was not looked into. When its disk is back, run "
            "`zomem vault consolidate`, which takes what was erased out of its facts, pages and session logs; delete "
            "its archives by hand"
        )
    return limits


def _kinds(gone: Selection) -> dict[str, int]:
    return {
        "facts": len(gone.facts),
        "turns": len(gone.turns),
        "episodes": len(gone.episodes),
        "loops": len(gone.loops),
    }


def _listed(gone: Selection, *, with_text: bool) -> Iterator[Mapping[str, str]]:
    named = (
        ("fact", {id_: fact.text for id_, fact in gone.facts.items()}),
        ("turn", {id_: turn.content for id_, turn in gone.turns.items()}),
        ("episode", {id_: episode.summary for id_, episode in gone.episodes.items()}),
        ("loop", {id_: loop.title for id_, loop in gone.loops.items()}),
    )
    for kind, texts in named:
        for id_, text in texts.items():
            yield {"kind": kind, "id": id_, **({"text": text} if with_text else {})}
