"""The verbs of `Memory` that end, correct, tie and erase what is known. `Memory` inherits them."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from zomem_graph.nodes.ports import Services
from zomem_graph.nodes.rules.given import flag
from zomem_graph.nodes.rules.vault_lines import fact_id
from zomem_graph.nodes.scope import SHARED, Scope
from zomem_graph.nodes.values import ErasureReport, ProvenanceReport
from zomem_graph.settings import Settings
from zomem_graph.stores.records import Fact, Link

if TYPE_CHECKING:
    from zomem_graph.subjects.conflicts import FactConflicts
    from zomem_graph.subjects.graph import KnowledgeGraph

__all__ = ["Truth"]


class _Opened(Services, Protocol):
    """What these verbs need of the memory they are part of."""

    @property
    def settings(self) -> Settings: ...

    def _check_open(self) -> None: ...


class Truth:
    """Delete, retract, forget, link, unlink, and where things come from.

    All but `forget` take an id. With a scope it must be something of the persona's own or shared; without one it may
    be anybody's, which is for whoever owns the memory. With `strict_scope` a persona's thing asks for the scope.
    """

    @property
    def conflicts(self: _Opened) -> "FactConflicts":
        """What cannot both hold: list, detect, history, resolve, resolve_all, stats."""
        from zomem_graph.subjects.conflicts import FactConflicts

        self._check_open()
        return FactConflicts(self)

    @property
    def graph(self: _Opened) -> "KnowledgeGraph":
        """What is tied to what: link, unlink, show, find_connections, knowledge_gaps, export and more."""
        from zomem_graph.subjects.graph import KnowledgeGraph

        self._check_open()
        return KnowledgeGraph(self)

    def delete(self: _Opened, id: str, *, scope: Scope | None = None) -> None:  # noqa: A002  # the name users know
        """Take one thing out of memory; it stays in the archive. Without a scope, whoever's it is.

        A value that waited for a decision against it (`on_conflict="flag"`) is current then.
        Raises UnknownName for what is not there or not the scope's, InvalidInput when `strict_scope` wants a scope.
        """
        from zomem_graph.nodes.steps.ending import delete_one

        self._check_open()
        delete_one(self, _bare(id), scope)

    def retract(
        self: _Opened,
        id: str,  # noqa: A002  # as above
        reason: str,
        *,
        scope: Scope | None = None,
    ) -> Fact | None:
        """Say that something was never true: out of recall and `as_of`, kept for audit with the reason.

        The value it had taken the place of is current again, else one that waited for a decision against it. Without
        a scope, whoever's it is. Raises UnknownName or InvalidInput.
        """
        from zomem_graph.nodes.steps.ending import retract_one

        self._check_open()
        return retract_one(self, _bare(id), reason, scope)

    def forget(
        self: _Opened,
        *,
        persona: str = SHARED,
        entity: str | None = None,
        id: str | Sequence[str] | None = None,  # noqa: A002  # as above
        matching: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> ErasureReport:
        """Erase for good what a persona has, and prove it; nothing named raises InvalidInput.

        `entity` and everything that names it: a name of several words in any letter case, a single word only
        where it is written as a name, for "mark" and "port" are words too; where such a word is kept, the
        report says so. `id`, one or several; `matching`, a literal piece of text in any letter case;
        `everything` empties the persona. With what is named goes what retells it in its own words or by a
        telling value, and what logs say of it is blanked. Goes: rows, full text, vectors, links, the turns
        behind it, caches, queue, persona files, checkpoints, backups and free pages. Documents of a
        `MemoryStore` are an application's: they are named and left. A later import or capture does not bring
        it back. A dry run changes nothing and lists what would go. An id that was erased before is taken
        again: what had to be left then is done now.
        """
        from zomem_graph.models.cached import CachedEmbedder
        from zomem_graph.nodes.steps.forget import Wanted, forget

        self._check_open()
        wanted = Wanted.read(persona=persona, entity=entity, ids=id, matching=matching, everything=everything)
        report = forget(self, wanted, checkpoints=self.settings.checkpoint_dir, dry_run=flag("dry_run", dry_run))
        if isinstance(self.embedder, CachedEmbedder) and not dry_run:
            self.embedder.forget_questions()
        return report

    def link(
        self: _Opened,
        source_id: str,
        target_id: str,
        relation: str = "related",
        weight: float = 1.0,
        *,
        scope: Scope | None = None,
    ) -> Link:
        """Tie two things together; the same triple is replaced. An unknown relation warns and is kept.

        Without a scope they may be anybody's, though not of two personas.
        """
        from zomem_graph.nodes.steps.ending import link_two

        self._check_open()
        link, notes = link_two(self, source_id, target_id, relation=relation, weight=weight, scope=scope)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return link

    def unlink(
        self: _Opened,
        source_id: str,
        target_id: str,
        relation: str | None = None,
        *,
        scope: Scope | None = None,
    ) -> int:
        """Untie two things, one relation or all of them; return how many links went.

        Without a scope, whoever's they are.
        """
        from zomem_graph.nodes.steps.ending import unlink_two

        self._check_open()
        return unlink_two(self, source_id, target_id, relation=relation, scope=scope)

    def provenance(
        self: _Opened,
        id: str,  # noqa: A002  # as above
        *,
        scope: Scope | None = None,
    ) -> ProvenanceReport:
        """Return where a fact came from, down to turn and quote, and the values before and after it."""
        from zomem_graph.nodes.steps.provenance import trace_fact

        self._check_open()
        return trace_fact(self, _bare(id), scope)


def _bare(given: str) -> str:
    """Return an id without what the files of a vault write around it."""
    return fact_id(given) if isinstance(given, str) else given
