"""What the vault keeps beside its files: which facts are in it, and which session logs it has read."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TIME = sa.Float(53)


def upgrade() -> None:
    """Make the tables; no fact is in a vault at first."""
    op.create_table(
        "vault_facts",
        sa.Column("fact_id", sa.Text(), nullable=False),
        sa.Column("activation", sa.Float(), nullable=False),
        sa.Column("as_of", _TIME, nullable=False),
        sa.Column("band", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("fact_id"),
    )
    op.create_table(
        "vault_sessions",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("first_at", _TIME, nullable=True),
        sa.Column("last_at", _TIME, nullable=True),
        sa.Column("read_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def downgrade() -> None:
    """Remove them; the facts themselves stay."""
    op.drop_table("vault_sessions")
    op.drop_table("vault_facts")
