"""The floor: SQLite's full text search as anybody would set it up, one text field, best words first.

Built on the bare `sqlite3` module so that nothing of this package can help it or hurt it.
"""

import re
import sqlite3
from collections.abc import Sequence

from zomem_graph.bench.sets import Entry

__all__ = ["PlainWords"]

# The usual English function words, question words and halves of contractions.
_STOP = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being below
    between both but by can could d did didn do does doesn doing don done down during each few for from
    further had has have having he her here hers him his how i if in into is isn it its just ll m may me
    might mine more most must my no nor not now of off on once only or other our ours out over own re s
    same shall she should so some such t than that the their theirs them then there these they this
    those through to too under until up us ve very was wasn we were what when where which while who whom
    whose why will with would you your yours
    """.split()
)
_WORD = re.compile(r"[^\W_]+")


class PlainWords:
    """BM25 over "speaker: text" or "title. text", porter stems, stop words left out, terms joined by OR."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._units = [entry.unit for entry in entries]
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create virtual table plain using fts5(said, tokenize='porter unicode61')")
        rows = [(number, _said(entry)) for number, entry in enumerate(entries)]
        self._db.executemany("insert into plain(rowid, said) values(?, ?)", rows)

    def best(self, question: str, *, limit: int) -> list[str]:
        """Return the units of the best texts, best first, each once."""
        words = dict.fromkeys(_WORD.findall(question.lower()))
        match = " OR ".join(f'"{word}"' for word in words if word not in _STOP)
        if not match:
            return []
        found = self._db.execute("select rowid from plain where plain match ? order by bm25(plain), rowid", (match,))
        return list(dict.fromkeys(self._units[row[0]] for row in found))[:limit]


def _said(entry: Entry) -> str:
    if entry.title:
        return f"{entry.title}. {entry.text}"
    return f"{entry.speaker}: {entry.text}" if entry.speaker else entry.text
