"""The proof of an erasure: what is looked for, where, and what still names who was forgotten."""

from pathlib import Path

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.counting import number_of
from zomem_graph.nodes.rules.entities import is_ordinary_word, named_in
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.steps.access import stranger
from zomem_graph.nodes.steps.needles import still_held
from zomem_graph.nodes.steps.selection import Wanted, is_namesake, texts_of, things_in
from zomem_graph.nodes.steps.vault_mentions import still_named
from zomem_graph.stores.erasure import OWN_WORDS
from zomem_graph.stores.proof import Needles, Scan, scan_files, scan_rows
from zomem_graph.stores.remains import home_files
from zomem_graph.stores.unit import Unit
from zomem_graph.stores.vault_place import Place

__all__ = ["left_naming", "limits_of", "names_to_find", "scan_for", "unknown_persona", "without_kept"]

_LEAST_NAME = 4  # characters; a shorter one is found by chance in any large file
_MOST_IDS = 5


def names_to_find(wanted: Wanted) -> list[str]:
    """Return what was named, as a text to look for; none when it is too short, or a word that files have anyway."""
    if (wanted.entity is None) == (wanted.matching is None):
        return []  # of what is both about one and holds the other, neither must be gone
    text = " ".join((wanted.entity or wanted.matching or "").split())
    known = text.casefold() in OWN_WORDS or (wanted.entity is not None and _may_be_a_word(wanted))
    return [] if known or len(text) < _LEAST_NAME else [text]


def without_kept(services: Services, needles: Needles) -> tuple[Needles, int]:
    """Return what may be looked for: not what kept memories say as well; and how much that was."""
    with services.stores.read() as unit:
        kept = still_held(unit, needles)
    return needles.without(kept), len(kept)


def scan_for(
    services: Services, needles: Needles, in_vault: Needles, checkpoints: Path | None, vault: Place | None
) -> Scan:
    """Look through every file of the home and every row; in a vault, whose pages are others' too, for `in_vault`."""
    home = services.stores.home
    besides = [home.database_file, *([checkpoints] if checkpoints is not None else [])]
    ours: list[tuple[Path, str]] = []
    theirs: list[tuple[Path, str]] = []
    for path, name in home_files(home.root, besides=[*besides, *([] if vault is None else [vault.root])]):
        (theirs if vault is not None and path.is_relative_to(vault.root) else ours).append((path, name))
    scan = scan_files(ours, needles)
    scan.add(scan_files(theirs, in_vault))
    with services.stores.read() as unit:
        scan_rows(unit.contents(), needles, scan)
    return scan


def left_naming(services: Services, wanted: Wanted, vault: Place | None) -> tuple[list[str], list[str]]:
    """Return what still names what was forgotten and is not ours to erase, and notes on what may name it.

    A single word names somebody only where it is written as a name: where it stands in small letters it is told.
    """
    if wanted.everything or (wanted.entity is None and wanted.matching is None):
        return [], []
    named = [] if vault is None or wanted.entity is None else still_named(vault, wanted.entity)
    notes: list[str] = []
    with services.stores.read() as unit:
        named += _documents(unit, wanted)
        kept = _maybe_naming(unit, wanted)
    if kept:
        word = wanted.key
        shown = ", ".join(kept[:_MOST_IDS]) + (" …" if len(kept) > _MOST_IDS else "")
        said = f"{number_of(len(kept), 'memories')} of {wanted.persona} with the word {word!r:.60} ({shown})"
        cure = f"`zomem forget --matching {word!r:.60}` takes all that hold it, `--id` one"
        if _may_be_a_word(wanted):
            notes.append(f"{said} are kept: it may be a plain word there; {cure}")
        else:
            named.append(f"{said}: it may be a plain word there; {cure}")
    return named, notes


def unknown_persona(services: Services, wanted: Wanted) -> str | None:
    """Return whose name was meant, when nothing is known of a persona and its name is much like a known one."""
    if wanted.persona == SHARED:
        return None
    with services.stores.read() as unit:
        _kin, known = unit.personas.kin(wanted.persona)
        return None if known else stranger(unit, services.stores, Scope(persona=wanted.persona))


def limits_of(services: Services, vault: Place | None) -> list[str]:
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


def _documents(unit: Unit, wanted: Wanted) -> list[str]:
    """Return the documents of a persona that hold what was named: they are an application's, not ours to erase."""
    others = {name for name in unit.personas.names() if name != wanted.persona}
    found = []
    for labels, key, text in unit.erasure.documents():
        whose = wanted.persona in labels or (wanted.persona == SHARED and others.isdisjoint(labels))
        if whose and _holds_named(wanted, text):
            found.append(
                f"the document {key!r:.80} of {labels!r:.120}, which an application keeps: "
                f"store.delete({labels!r:.120}, {key!r:.80})"
            )
    return found


def _holds_named(wanted: Wanted, text: str) -> bool:
    if wanted.piece is not None and wanted.piece not in text.casefold():
        return False
    if wanted.key is None:
        return True
    return named_in(wanted.key, text) and not _may_be_a_word(wanted)


def _maybe_naming(unit: Unit, wanted: Wanted) -> list[str]:
    """Return the ids of what is kept and has the single word that is the name."""
    entity, key = wanted.entity, wanted.key
    if entity is None or key is None or wanted.clear_name is not None or wanted.matching is not None:
        return []
    kept = (item for item in things_in(unit.erasure.everything_of(wanted.persona)) if not is_namesake(item, entity))
    return [item.id for item in kept if any(named_in(key, text) for text in texts_of(item))]


def _may_be_a_word(wanted: Wanted) -> bool:
    name = (wanted.entity or "").strip()
    return wanted.clear_name is None and (name == name.lower() or is_ordinary_word(wanted.key or ""))
