"""Procedures, and what executors did: one row an attempt, and what imported histories say (spec T9, T10, F90)."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TIME = sa.Float(53)


def upgrade() -> None:
    """Make the tables."""
    _procedures()
    _executors()


def downgrade() -> None:
    """Remove the tables; the episodes that tell of the same work stay."""
    op.drop_table("executor_history")
    op.drop_index("ix_executor_runs_category", table_name="executor_runs")
    op.drop_index("ix_executor_runs_executor", table_name="executor_runs")
    op.drop_table("executor_runs")
    op.drop_index("ix_procedure_episodes_episode", table_name="procedure_episodes")
    op.drop_table("procedure_episodes")
    op.drop_index("uq_procedures_version", table_name="procedures")
    op.drop_table("procedures")


def _procedures() -> None:
    op.create_table(
        "procedures",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("success_count", sa.Integer(), nullable=False),
        sa.Column("failure_count", sa.Integer(), nullable=False),
        sa.Column("evolved_from", sa.Text(), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("last_used_at", _TIME, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("uq_procedures_version", "procedures", ["persona", "name", "version"], unique=True)
    op.create_table(
        "procedure_episodes",
        sa.Column("procedure_id", sa.Text(), nullable=False),
        sa.Column("episode_id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("procedure_id", "episode_id"),
    )
    op.create_index("ix_procedure_episodes_episode", "procedure_episodes", ["episode_id"])


def _executors() -> None:
    op.create_table(
        "executor_runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("failure_class", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.Float(), nullable=True),
        sa.Column("episode_id", sa.Text(), nullable=True),
        sa.Column("procedure_id", sa.Text(), nullable=True),
        sa.Column("swarm", sa.Text(), nullable=True),
        sa.Column("entities", sa.Text(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_executor_runs_executor", "executor_runs", ["persona", "executor", "at"])
    op.create_index("ix_executor_runs_category", "executor_runs", ["persona", "category", "at"])
    op.create_table(
        "executor_history",
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("successes", sa.Integer(), nullable=False),
        sa.Column("avg_duration_ms", sa.Float(), nullable=False),
        sa.Column("last_updated", _TIME, nullable=False),
        sa.Column("recent_episode_ids", sa.Text(), nullable=False),
        sa.Column("failure_patterns", sa.Text(), nullable=False),
        sa.Column("entity_affinities", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("persona", "executor", "category"),
    )
