"""One transaction over every subject; the code of one is loaded when it is first asked for."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from zomem_graph.stores.dialect import Dialect

if TYPE_CHECKING:
    from zomem_graph.stores.budgets import Budgets
    from zomem_graph.stores.care import Care
    from zomem_graph.stores.conflicts import Conflicts
    from zomem_graph.stores.documents import Documents
    from zomem_graph.stores.episodes import Episodes
    from zomem_graph.stores.erasure import Erasure
    from zomem_graph.stores.executors import Executors
    from zomem_graph.stores.facts import Facts
    from zomem_graph.stores.graph import GraphReads
    from zomem_graph.stores.imports import Imports
    from zomem_graph.stores.index_meta import Standing
    from zomem_graph.stores.items import Items
    from zomem_graph.stores.journal import Journal
    from zomem_graph.stores.links import Links
    from zomem_graph.stores.loops import Loops
    from zomem_graph.stores.metrics import Metrics
    from zomem_graph.stores.outbox import Outbox
    from zomem_graph.stores.personas import Personas
    from zomem_graph.stores.procedures import Procedures
    from zomem_graph.stores.provenance import Origins
    from zomem_graph.stores.summaries import Summaries
    from zomem_graph.stores.tokens import Tokens
    from zomem_graph.stores.tombstones import Tombstones
    from zomem_graph.stores.turns import Turns
    from zomem_graph.stores.unembedded import Unembedded
    from zomem_graph.stores.vault import VaultRows

__all__ = ["Unit"]


class Unit:
    """One transaction over every subject; repositories are made when asked for."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect

    @cached_property
    def items(self) -> "Items":
        """What search sees."""
        from zomem_graph.stores.items import Items

        return Items(self._connection, self._dialect)

    @cached_property
    def unembedded(self) -> "Unembedded":
        """What waits for a vector."""
        from zomem_graph.stores.unembedded import Unembedded

        return Unembedded(self._connection)

    @cached_property
    def facts(self) -> "Facts":
        """What is known."""
        from zomem_graph.stores.facts import Facts

        return Facts(self._connection)

    @cached_property
    def turns(self) -> "Turns":
        """What was said."""
        from zomem_graph.stores.turns import Turns

        return Turns(self._connection)

    @cached_property
    def links(self) -> "Links":
        """How things relate."""
        from zomem_graph.stores.links import Links

        return Links(self._connection, self._dialect)

    @cached_property
    def graph(self) -> "GraphReads":
        """What lies around what."""
        from zomem_graph.stores.graph import GraphReads

        return GraphReads(self._connection)

    @cached_property
    def episodes(self) -> "Episodes":
        """What happened."""
        from zomem_graph.stores.episodes import Episodes

        return Episodes(self._connection)

    @cached_property
    def summaries(self) -> "Summaries":
        """What happened, in short."""
        from zomem_graph.stores.summaries import Summaries

        return Summaries(self._connection)

    @cached_property
    def loops(self) -> "Loops":
        """What is unfinished."""
        from zomem_graph.stores.loops import Loops

        return Loops(self._connection)

    @cached_property
    def procedures(self) -> "Procedures":
        """How things are done."""
        from zomem_graph.stores.procedures import Procedures

        return Procedures(self._connection)

    @cached_property
    def executors(self) -> "Executors":
        """Who did what how well."""
        from zomem_graph.stores.executors import Executors

        return Executors(self._connection)

    @cached_property
    def conflicts(self) -> "Conflicts":
        """What cannot both hold."""
        from zomem_graph.stores.conflicts import Conflicts

        return Conflicts(self._connection)

    @cached_property
    def provenance(self) -> "Origins":
        """Where it came from."""
        from zomem_graph.stores.provenance import Origins

        return Origins(self._connection, self._dialect)

    @cached_property
    def tombstones(self) -> "Tombstones":
        """What was erased and must not come back."""
        from zomem_graph.stores.tombstones import Tombstones

        return Tombstones(self._connection, self._dialect)

    @cached_property
    def erasure(self) -> "Erasure":
        """What is to go for good."""
        from zomem_graph.stores.erasure import Erasure

        return Erasure(self._connection, self._dialect)

    @cached_property
    def imports(self) -> "Imports":
        """What came in from elsewhere."""
        from zomem_graph.stores.imports import Imports

        return Imports(self._connection, self._dialect)

    @cached_property
    def personas(self) -> "Personas":
        """Who reads whom."""
        from zomem_graph.stores.personas import Personas

        return Personas(self._connection, self._dialect)

    @cached_property
    def documents(self) -> "Documents":
        """What graphs keep by namespace and key."""
        from zomem_graph.stores.documents import Documents

        return Documents(self._connection, self._dialect, self.items)

    @cached_property
    def tokens(self) -> "Tokens":
        """The token vectors of what search sees."""
        from zomem_graph.stores.tokens import Tokens

        return Tokens(self._connection, self._dialect)

    @cached_property
    def vault(self) -> "VaultRows":
        """What the vault mirrors."""
        from zomem_graph.stores.vault import VaultRows

        return VaultRows(self._connection, self._dialect)

    @cached_property
    def outbox(self) -> "Outbox":
        """What the index has yet to follow."""
        from zomem_graph.stores.outbox import Outbox

        return Outbox(self._connection)

    @cached_property
    def journal(self) -> "Journal":
        """The trail and the queues."""
        from zomem_graph.stores.journal import Journal

        return Journal(self._connection, self._dialect)

    def standing_of(self, collection: str) -> "Standing":
        """Return how a collection of the index stands in this snapshot."""
        from zomem_graph.stores.index_meta import IndexMeta

        return IndexMeta(self._connection, self._dialect).standing(collection)

    @cached_property
    def budgets(self) -> "Budgets":
        """How full prompts are."""
        from zomem_graph.stores.budgets import Budgets

        return Budgets(self._connection, self._dialect)

    @cached_property
    def metrics(self) -> "Metrics":
        """What was done, in numbers."""
        from zomem_graph.stores.metrics import Metrics

        return Metrics(self._connection)

    @cached_property
    def care(self) -> "Care":
        """How things were used, and what maintenance did."""
        from zomem_graph.stores.care import Care

        return Care(self._connection, self._dialect)

    def fulltext_fault(self) -> str | None:
        """Return what is wrong with the full text, or None."""
        return self._dialect.fulltext_fault(self._connection)

    def rebuild_fulltext(self) -> None:
        """Fill the full text again from the items."""
        self._dialect.rebuild_fulltext(self._connection)

    def scrub_fulltext(self) -> None:
        """Leave nothing in the full text of words that were deleted."""
        self._dialect.scrub_fulltext(self._connection)

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield every row as (table, bytes), where no file of the home holds them."""
        return self._dialect.contents(self._connection)

    def database_fault(self) -> str | None:
        """Return what the database's integrity check says, or None."""
        return self._dialect.database_fault(self._connection)
