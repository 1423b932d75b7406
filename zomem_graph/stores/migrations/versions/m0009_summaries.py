"""Summaries of episodes, context budgets and metrics (spec T14, T16, T18)."""

import sqlalchemy as sa
from alembic import op

from zomem_graph.stores.outbox import collection_name

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.Float(53)


def upgrade() -> None:
    """Make the tables; what is old enough is summed up by the next maintenance."""
    _summaries()
    _budgets()
    _metrics()


def downgrade() -> None:
    """Remove the tables and what search and index know of summaries."""
    _leave_search()
    for table in ("model_calls", "operations", "context_budgets", "summary_sources", "episode_summaries"):
        op.drop_table(table)


def _summaries() -> None:
    op.create_table(
        "episode_summaries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("key_decisions", sa.Text(), nullable=False),
        sa.Column("key_outcomes", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("first_at", _TIME, nullable=False),
        sa.Column("last_at", _TIME, nullable=False),
        sa.Column("episodes", sa.Integer(), nullable=False),
        sa.Column("original_tokens", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_summaries_level", "episode_summaries", ["persona", "level", "first_at"])
    op.create_table(
        "summary_sources",
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("summary_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source_id"),
    )
    op.create_index("ix_summary_sources_summary", "summary_sources", ["summary_id"])


def _budgets() -> None:
    op.create_table(
        "context_budgets",
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("max_tokens", sa.Integer(), nullable=False),
        sa.Column("warn_at", sa.Float(), nullable=False),
        sa.Column("critical_at", sa.Float(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("warning_fired", sa.Boolean(), nullable=False),
        sa.Column("critical_fired", sa.Boolean(), nullable=False),
        sa.Column("saved", sa.Boolean(), nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("persona", "thread"),
    )


def _metrics() -> None:
    op.create_table(
        "operations",
        sa.Column("num", _BIG, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=False),
        sa.Column("results", sa.Integer(), nullable=False),
        sa.Column("imagined", sa.Boolean(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("num"),
    )
    op.create_index("ix_operations_created", "operations", ["created_at"])
    op.create_table(
        "model_calls",
        sa.Column("num", _BIG, autoincrement=True, nullable=False),
        sa.Column("workload", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("num"),
    )
    op.create_index("ix_model_calls_created", "model_calls", ["created_at"])


def _leave_search() -> None:
    connection = op.get_bind()
    indexed = connection.execute(
        sa.text("select id, persona, kind, embedder from items where kind = 'summary' and embedder is not null")
    ).all()
    for id_, persona, kind, embedder in indexed:
        connection.execute(
            sa.text("insert into outbox (item_id, collection, op) values (:id, :collection, 'delete')"),
            {"id": id_, "collection": collection_name(persona, kind, embedder)},
        )
    summaries = "select id from items where kind = 'summary'"
    op.execute(f"delete from links where source_id in ({summaries}) or target_id in ({summaries})")
    op.execute("delete from mentions where num in (select num from items where kind = 'summary')")
    op.execute("delete from items where kind = 'summary'")
    op.execute("delete from collections where kind = 'summary'")
