"""Forget for good: the rows in one transaction, then what is left outside the tables, then the proof.

An erasure that is cut short after its transaction has taken nothing back: the rows are gone, and the next
`forget` finishes the rest.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.entities import entity_key
from zomem_graph.nodes.rules.erasing import (
    Mark,
    Retold,
    fact_marks,
    message_marks,
    named_marks,
    needles_of,
    read_again_marks,
    says_it_briefly,
    source_marks,
    turn_marks,
)
from zomem_graph.nodes.rules.given import strings_in
from zomem_graph.nodes.rules.tiers import WALL_CLOCK_TIERS
from zomem_graph.nodes.steps.conflicts import give_way
from zomem_graph.nodes.steps.embed import feed_index
from zomem_graph.nodes.steps.going import Going, going, points_of, telling_lines
from zomem_graph.nodes.steps.lapse import end_by_clock
from zomem_graph.nodes.steps.needles import still_told
from zomem_graph.nodes.steps.parting import parts_left, stand_again
from zomem_graph.nodes.steps.proving import (
    left_naming,
    limits_of,
    names_to_find,
    scan_for,
    unknown_persona,
    without_kept,
)
from zomem_graph.nodes.steps.selection import Wanted, said_of, texts_of, things_in
from zomem_graph.nodes.steps.stream import WAITING_MESSAGE
from zomem_graph.nodes.steps.summaries import remove_summaries
from zomem_graph.nodes.steps.vault_erasing import clean_vault, fall_behind, vault_of
from zomem_graph.nodes.values import ErasureReport, Trace, plain
from zomem_graph.stores.checkpoint_files import list_checkpoints
from zomem_graph.stores.erasure import Selection
from zomem_graph.stores.errors import IndexUnavailable, StoreError
from zomem_graph.stores.proof import Needles
from zomem_graph.stores.remains import (
    Cleaned,
    clean_backups,
    clean_checkpoints,
    clean_lines,
    clean_persona_files,
    wipe_unused_vectors,
)
from zomem_graph.stores.stems import stem
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_place import Place
from zomem_graph.stores.words import search_text

__all__ = ["Wanted", "finish_erasures", "forget"]

_PENDING = "erasure.pending"  # collections of an erasure whose rows are gone and whose rest is not done yet


@dataclass(slots=True)
class _Erased:
    """What went with the transaction, kept for the proof."""

    going: Going
    texts: list[str]
    vectors: tuple[bytes, ...]
    collections: list[str]
    words: frozenset[str]
    counts: dict[str, int]

    @property
    def ids(self) -> list[str]:
        """The ids of all that went, with those of the summaries that were made from it."""
        return [*self.going.things.ids, *(one.id for one in self.going.summaries)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What is cut out of files, and what is looked for in them afterwards."""

    all_gone: Needles
    """All that went, and what was named, without what the persona knows still: for its own files."""
    went: Needles
    """The same without what was only named: for checkpoints, which are others' too."""
    copies: Needles
    """The same without what kept memories say as well, and without single words: for backups."""
    lone: tuple[str, ...]
    """Those single words: in backups they are cut out of what is the persona's own."""
    vault: Needles
    """Only what went, and nobody else says."""
    proof: Needles
    """What must be in no file and row any more."""
    shared: int


def forget(
    services: Services, wanted: Wanted, *, checkpoints: Path | None = None, dry_run: bool = False
) -> ErasureReport:
    """Erase what is wanted and prove it, or with `dry_run` only say what would go.

    `checkpoints` is the folder of saved checkpoints when it is not in the home. Raises UnknownName for an
    id that the persona does not own; then nothing was changed.
    """
    stranger = unknown_persona(services, wanted)
    if dry_run:
        return _foretold(services, wanted, stranger)
    erased = _erase_rows(services, wanted)
    left = _empty_index(services, erased)
    sought = _sought(services, wanted, erased)
    with services.stores.write() as unit:
        unit.imports.leave_places(lambda text: bool(sought.proof.found_in(text.encode("utf-8", "surrogateescape"))))
    with services.stores.in_turn:  # a search that reads keeps the log from being emptied
        left += services.stores.database.compact()
    vault = _vault(services)
    cleaned = _clean_files(services, wanted, erased, sought, checkpoints=checkpoints)
    if vault is not None and vault.root.is_dir():
        cleaned["vault"] = clean_vault(services, vault, sought.vault, gone=erased.going.things)
    scan = scan_for(services, sought.proof, sought.vault, checkpoints, vault)
    named, maybe = left_naming(services, wanted, vault)
    left += [*(note for one in cleaned.values() for note in one.notes), *scan.unread]
    if not left:
        with services.stores.write() as unit:
            unit.journal.set_meta(_PENDING, "[]")
    for name, one in cleaned.items():
        erased.counts[f"{name}_rewritten"] = len(one.rewritten)
        erased.counts[f"{name}_removed"] = len(one.removed)
    notes = [*left, *maybe, *_not_looked_for(wanted, erased, sought), *limits_of(services, vault)]
    return ErasureReport(
        persona=wanted.persona,
        dry_run=False,
        clean=not (scan.found or left or named or stranger or _is_blind(wanted, erased, sought)),
        counts={name: count for name, count in erased.counts.items() if count},
        listed=tuple(erased.going.listed(with_text=False)),
        scanned={
            "files": scan.files,
            "archive_members": scan.members,
            "rows": scan.rows,
            "bytes": scan.bytes,
            "looked_for": len(sought.proof),
        },
        traces=tuple(Trace(place=place, form=form) for place, form in scan.found),
        named=tuple(named),
        shared=sought.shared,
        notes=(*([] if stranger is None else [stranger]), *notes),
    )


def _foretold(services: Services, wanted: Wanted, stranger: str | None) -> ErasureReport:
    """Return what would go."""
    with services.stores.read() as unit:
        would_go = going(unit, wanted)
    return ErasureReport(
        persona=wanted.persona,
        dry_run=True,
        clean=False,
        counts={kind: count for kind, count in would_go.counts.items() if count},
        listed=tuple(would_go.listed(with_text=True)),
        notes=("dry run: nothing was changed and nothing was scanned", *([] if stranger is None else [stranger])),
    )


def _erase_rows(services: Services, wanted: Wanted) -> _Erased:
    """Take everything out of the tables in one transaction, and leave tombstones."""
    now = services.clock()
    with services.stores.write() as unit:
        goes = going(unit, wanted)
        gone = goes.things
        left = parts_left(unit, gone.facts)
        texts = [text for item in things_in(gone) for text in said_of(item)]
        texts += [text for one in goes.summaries for text in points_of(one)]
        vanishing = unit.erasure.vanishing([*gone.ids, *(one.id for one in goes.summaries)])
        counts = goes.counts
        marks = _marks(gone) | {("id", id_): None for id_ in (*gone.facts, *(set(wanted.ids) & set(gone.ids)))}
        counts["tombstones"] = unit.tombstones.bury(wanted.persona, marks, now=now) if gone.ids else 0
        counts["vectors"] = len(vanishing.vectors)
        for fact in gone.facts.values():
            if fact.state == "current" and fact.tier in WALL_CLOCK_TIERS:
                end_by_clock(unit, fact, now)  # what it took the place of stands again, unless that goes too
        unit.facts.end([*gone.facts], state="deleted", at=now)
        stand_again(unit, left, now=now)
        give_way(unit, gone.facts.keys(), now=now)
        remove_summaries(unit, goes.summaries)
        counts |= unit.erasure.forget_traces(gone)
        _purge(unit, gone)
        counts["waiting_turns"] = unit.erasure.unqueue([*gone.turns])
        if wanted.entity is not None:
            counts["mentions"] += unit.episodes.leave(entity_key(wanted.entity), [wanted.persona])
        counts["question_vectors"] = unit.erasure.clear_question_vectors()
        unit.scrub_fulltext()
        words = _unheard_words(unit, gone)
        counts["tombstones"] += unit.tombstones.bury(wanted.persona, _wider_marks(wanted, gone, words), now=now)
        if not wanted.everything:
            counts |= unit.erasure.blank(telling_lines(unit, wanted.persona, goes.retold, unheard=words))
        unit.erasure.leave_speakers(wanted.persona)
        if wanted.everything:
            others = unit.erasure.leave_persona(wanted.persona)
            counts["other_rows"] = sum(others.values()) + unit.personas.leave(wanted.persona)
        waiting = json.loads(unit.journal.meta(_PENDING) or "[]")
        collections = sorted({*waiting, *unit.erasure.collections(vanishing.places)})
        unit.journal.set_meta(_PENDING, json.dumps(collections))
        fall_behind(unit)
    return _Erased(goes, texts, vanishing.vectors, collections, words, counts)


def _purge(unit: Unit, gone: Selection) -> None:
    unit.items.purge(gone.ids)
    unit.facts.purge([*gone.facts])
    unit.turns.purge([*gone.turns])
    unit.episodes.purge([*gone.episodes])
    unit.loops.purge([*gone.loops])
    unit.erasure.leave_procedures([*gone.procedures])
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
                *source_marks(fact.metadata.get("source_id"), fact.metadata.get(WAITING_MESSAGE)),
            ],
            fact.created_at,
        )
        for fact in gone.facts.values()
    ]
    said += [
        (
            [
                *turn_marks(turn.content, session=turn.session),
                *message_marks(turn.message_id, turn.metadata.get("source_id"), session=turn.session),
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


def _wider_marks(wanted: Wanted, gone: Selection, words: frozenset[str]) -> dict[Mark, datetime | None]:
    """Return what was named, for messages that wait to be stored, and turns of few words that hold what went."""
    marks: dict[Mark, datetime | None] = dict.fromkeys(
        mark for name in (wanted.clear_name, wanted.matching) if name for mark in named_marks(name)
    )
    if wanted.entity is not None and wanted.matching is not None:
        marks.clear()  # neither of the two alone is what was named
    for turn in gone.turns.values():
        named = turn.id in wanted.ids
        if says_it_briefly(turn.content, words=words, piece="" if named else wanted.piece):
            marks |= {mark: max(turn.at, marks.get(mark) or turn.at) for mark in read_again_marks(turn.content)}
    return marks


def _unheard_words(unit: Unit, gone: Selection) -> frozenset[str]:
    """Return the words of what went that nothing which is kept has."""
    words = {word for item in things_in(gone) for text in texts_of(item) for word in search_text(text).split()}
    unheard = unit.erasure.unheard(sorted(words))
    return frozenset(word for word in words if stem(word) in unheard)


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


def _sought(services: Services, wanted: Wanted, erased: _Erased) -> _Sought:
    """Return what to cut out of which files, and what to look for in them."""
    odd = sorted(word for word in erased.words if any(sign.isdigit() for sign in word))
    went = needles_of([*erased.texts, *odd])
    named = [text for text in names_to_find(wanted) if text not in went]
    proof, shared = without_kept(services, Needles([*went, *named], vectors=erased.vectors))
    words = {place for place, one in enumerate(proof.sources) if isinstance(one, str) and one.isalpha()}
    only_named = {place for place, one in enumerate(proof.sources) if one in named}
    own = _without_own(services, wanted, Needles([*went, *named], vectors=erased.vectors))
    return _Sought(
        went=own.without(place for place, one in enumerate(own.sources) if one in named),
        all_gone=own,
        copies=proof.without(words),
        lone=tuple(str(proof.sources[place]) for place in sorted(words)),
        vault=proof.without(only_named),
        proof=proof,
        shared=shared,
    )


def _without_own(services: Services, wanted: Wanted, needles: Needles) -> Needles:
    """Return needles without what kept memories of the persona itself say as well."""
    with services.stores.read() as unit:
        return needles.without(still_told(unit, needles, persona=wanted.persona))


def _is_blind(wanted: Wanted, erased: _Erased, sought: _Sought) -> bool:
    """Return whether a name or text was given of which nothing was found, and which files cannot be searched for."""
    named = wanted.entity is not None or wanted.matching is not None
    return named and not (erased.ids or len(sought.proof) or sought.shared)


def _not_looked_for(wanted: Wanted, erased: _Erased, sought: _Sought) -> list[str]:
    """Return what the proof could not look for, in words."""
    before = [id_ for id_ in wanted.ids if id_ not in erased.ids]
    if before:
        return [
            f"{', '.join(before):.200} was erased before and what it said is not known any more; the files of the "
            "database were written anew. To look for its words, name them with --matching"
        ]
    if len(sought.proof) or wanted.everything:
        return []
    if sought.shared:
        return ["nothing was looked for: kept memories, maybe of others, say the same"]
    return [
        "nothing was looked for: nothing of this went, and what was named is too short, or too common a word, "
        "to be told from what files hold anyway"
    ]


def _clean_files(
    services: Services, wanted: Wanted, erased: _Erased, sought: _Sought, *, checkpoints: Path | None
) -> dict[str, Cleaned]:
    """Clean backups of what nobody kept says; the persona's own files and checkpoints of all that went."""
    home = services.stores.home
    folder = checkpoints or home.root / "checkpoints"
    return {
        "backups": clean_backups(
            home.backups,
            sought.copies,
            ids=erased.ids,
            words=erased.words,
            persona=wanted.persona,
            lone=sought.lone,
        ),
        "checkpoints": clean_checkpoints(folder, sought.went, named=_saved_of(wanted, folder)),
        # What a provider says of a call that failed may repeat what it was asked.
        "call_logs": clean_lines(home.root.glob(f"{home.call_log.name}*"), sought.proof),
        "persona_files": clean_persona_files(
            home.root / "personas", wanted.persona, sought.all_gone, everything=wanted.everything
        ),
    }


def _saved_of(wanted: Wanted, folder: Path) -> list[str]:
    """Return the names of the persona's checkpoints that go whatever words of memory they hold."""
    named = Retold(name=wanted.clear_name, piece=wanted.piece)
    if not wanted.everything and (named.name is None) == (named.piece is None):
        return []
    return [
        f"{one.id}.json"
        for one in list_checkpoints(folder)
        if one.persona == wanted.persona and (wanted.everything or any(map(named.told_in, strings_in(plain(one)))))
    ]


def _vault(services: Services) -> Place | None:
    """Return where the vault of the home is, None when it has none."""
    with services.stores.read() as unit:
        return vault_of(unit)
