"""What care needs: how things fade, what maintenance did, how to undo it."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TIME = sa.Float(53)


def upgrade() -> None:
    """Make the tables. Facts that are there keep the tier and the age they have."""
    op.add_column("facts", sa.Column("given_tier", sa.Text(), nullable=True))
    op.add_column("facts", sa.Column("kept_since", _TIME, nullable=True))
    op.create_table("active_days", sa.Column("day", sa.Text(), nullable=False), sa.PrimaryKeyConstraint("day"))
    op.create_table(
        "care_runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME, nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "care_moves",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "position"),
    )
    op.create_index("ix_care_moves_item", "care_moves", ["item_id"])


def downgrade() -> None:
    """Remove the tables; facts keep the tier they have now."""
    op.drop_index("ix_care_moves_item", table_name="care_moves")
    op.drop_table("care_moves")
    op.drop_table("care_runs")
    op.drop_table("active_days")
    with op.batch_alter_table("facts") as table:
        table.drop_column("kept_since")
        table.drop_column("given_tier")
