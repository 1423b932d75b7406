"""Conflicts, provenance and tombstones (spec T23, T24), and a way to a slot's whole history."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; facts from before get one origin each, from what their own row says."""
    _conflicts()
    _provenance()
    op.create_table(
        "tombstones",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("said_at", sa.Float(53), nullable=True),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index("ix_facts_slot", "facts", ["persona", "slot", "created_at"], unique=False)


def downgrade() -> None:
    """Remove them."""
    op.drop_index("ix_facts_slot", table_name="facts")
    op.drop_table("tombstones")
    op.drop_table("fact_provenance")
    op.drop_table("fact_conflicts")


def _conflicts() -> None:
    op.create_table(
        "fact_conflicts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("conflicting_fact_id", sa.Text(), nullable=False),
        sa.Column("conflict_type", sa.Text(), nullable=False),
        sa.Column("resolution", sa.Text(), nullable=False),
        sa.Column("detector", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.Column("resolved_at", sa.Float(53), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_conflicts_fact", "fact_conflicts", ["fact_id"], unique=False)
    op.create_index("ix_conflicts_other", "fact_conflicts", ["conflicting_fact_id"], unique=False)
    op.create_index(
        "ix_conflicts_resolution", "fact_conflicts", ["persona", "resolution", "created_at"], unique=False
    )


def _provenance() -> None:
    op.create_table(
        "fact_provenance",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=False),
        sa.Column("capture_method", sa.Text(), nullable=False),
        sa.Column("captured_at", sa.Float(53), nullable=False),
        sa.Column("effective_from", sa.Float(53), nullable=False),
        sa.Column("effective_until", sa.Float(53), nullable=True),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("superseded_at", sa.Float(53), nullable=True),
        sa.Column("quote", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_provenance_turn", "fact_provenance", ["turn_id"], unique=False)
    op.create_index("uq_provenance_source", "fact_provenance", ["fact_id", "source", "turn_id"], unique=True)
    op.execute(
        "insert into fact_provenance (id, fact_id, persona, source, turn_id, capture_method, captured_at,"
        " effective_from, effective_until, superseded_by, superseded_at, quote, metadata)"
        " select id, id, persona, source, coalesce(turn_id, ''),"
        " case when turn_id is null then 'api' else 'rule' end, created_at, created_at, ended_at,"
        " superseded_by, case when superseded_by is null then null else ended_at end, quote, '{}' from facts"
    )
