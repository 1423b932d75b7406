"""Light Core tables, made from the records, for everything that must answer in milliseconds.

The SQLModel classes in `tables.py` define the schema; importing them costs half a second, which a
hook that runs on every message cannot pay. A test holds both equal, column by column.
"""

from dataclasses import fields
from datetime import datetime
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from sqlalchemy import Boolean, Float, Integer, LargeBinary, TableClause, column, table
from sqlalchemy.types import TypeEngine

from zomem_graph.stores import care_records, metric_records, records, summary_records, vault_records, work_records
from zomem_graph.stores.columns import FaithfulText, JsonText, UtcTime

__all__ = [
    "access_log",
    "active_days",
    "capture_log",
    "care_moves",
    "care_runs",
    "collections",
    "context_budgets",
    "documents",
    "embedding_cache",
    "episode_entities",
    "episode_summaries",
    "episodes",
    "executor_history",
    "executor_runs",
    "extractions",
    "fact_conflicts",
    "fact_provenance",
    "facts",
    "gate_log",
    "imports",
    "item_tokens",
    "items",
    "light_table",
    "links",
    "mentions",
    "meta",
    "model_calls",
    "open_loops",
    "operations",
    "outbox",
    "persona_inheritance",
    "persona_pool_members",
    "persona_pools",
    "procedure_episodes",
    "procedures",
    "speakers",
    "summary_sources",
    "token_pieces",
    "tombstones",
    "turns",
    "vault_facts",
    "vault_sessions",
]

_TYPES: dict[Any, type[TypeEngine[Any]]] = {
    str: FaithfulText,
    int: Integer,
    float: Float,
    bool: Boolean,
    bytes: LargeBinary,
    datetime: UtcTime,
}


def _column_type(hint: Any) -> TypeEngine[Any]:
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    return _TYPES.get(hint, JsonText)()


def light_table(name: str, record: type, *, without: str = "", numbered: bool = False) -> TableClause:
    """Return a Core table with one typed column for each field of a record, save the one left out.

    A numbered one also has the `num` that the database counts by itself.
    """
    hints = get_type_hints(record)
    kept = [f.name for f in fields(record) if f.name != without]
    number = [column("num", Integer)] if numbered else []
    return table(name, *number, *(column(name, _column_type(hints[name])) for name in kept))


items = light_table("items", records.Item)
item_tokens = light_table("item_tokens", records.ItemTokens)
token_pieces = light_table("token_pieces", records.PieceCount)
facts = light_table("facts", records.Fact)
turns = light_table("turns", records.Turn)
links = light_table("links", records.Link)
episodes = light_table("episodes", records.Episode, without="entities")
episode_entities = light_table("episode_entities", records.EpisodeEntity)
open_loops = light_table("open_loops", records.Loop)
mentions = light_table("mentions", records.Mention)
access_log = light_table("access_log", records.Access)
capture_log = light_table("capture_log", records.CaptureRun)
extractions = light_table("extractions", records.Extraction)
gate_log = light_table("gate_log", records.GateDecision)
fact_conflicts = light_table("fact_conflicts", records.Conflict)
fact_provenance = light_table("fact_provenance", records.Origin)
tombstones = light_table("tombstones", records.Tombstone)
imports = light_table("imports", records.ImportRecord)
persona_pools = light_table("persona_pools", records.Pool)
persona_pool_members = light_table("persona_pool_members", records.PoolMember)
persona_inheritance = light_table("persona_inheritance", records.Inheritance)
documents = light_table("documents", records.Document)
episode_summaries = light_table("episode_summaries", summary_records.Summary, without="sources")
summary_sources = light_table("summary_sources", summary_records.SummarySource)
context_budgets = light_table("context_budgets", summary_records.ContextBudget)
operations = light_table("operations", metric_records.Operation, numbered=True)
model_calls = light_table("model_calls", metric_records.ModelCall, numbered=True)
procedures = light_table("procedures", work_records.Procedure)
procedure_episodes = light_table("procedure_episodes", work_records.ProcedureEpisode)
executor_runs = light_table("executor_runs", work_records.ExecutorRun)
executor_history = light_table("executor_history", work_records.ExecutorHistory)
vault_facts = light_table("vault_facts", vault_records.VaultFact)
vault_sessions = light_table("vault_sessions", vault_records.VaultSession)
active_days = light_table("active_days", care_records.ActiveDay)
care_runs = light_table("care_runs", care_records.CareRun)
care_moves = light_table("care_moves", care_records.CareMove)
outbox = table(
    "outbox",
    column("seq", Integer),
    column("item_id", FaithfulText),
    column("collection", FaithfulText),
    column("op", FaithfulText),
)
collections = table(
    "collections",
    column("persona", FaithfulText),
    column("kind", FaithfulText),
    column("embedder", FaithfulText),
    column("live", Integer),
)
meta = table("meta", column("key", FaithfulText), column("value", FaithfulText))
speakers = table("speakers", column("persona", FaithfulText), column("name", FaithfulText))
embedding_cache = table(
    "embedding_cache",
    column("model", FaithfulText),
    column("text_hash", FaithfulText),
    column("vector", LargeBinary),
    column("created_at", UtcTime),
)
