"""Pools and inheritance of personas, and the model an extraction was asked to use."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TIME = sa.Float(53)


def upgrade() -> None:
    """Make the tables; nobody shares anything at first."""
    op.create_table(
        "persona_pools",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "persona_pool_members",
        sa.Column("pool_id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("added_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("pool_id", "persona"),
    )
    op.create_index("ix_pool_members_persona", "persona_pool_members", ["persona"])
    op.create_table(
        "persona_inheritance",
        sa.Column("child_persona", sa.Text(), nullable=False),
        sa.Column("parent_persona", sa.Text(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("child_persona", "parent_persona"),
    )
    op.add_column("extractions", sa.Column("model", sa.Text(), nullable=True))


def downgrade() -> None:
    """Remove them again."""
    with op.batch_alter_table("extractions") as table:
        table.drop_column("model")
    op.drop_table("persona_inheritance")
    op.drop_index("ix_pool_members_persona", table_name="persona_pool_members")
    op.drop_table("persona_pool_members")
    op.drop_table("persona_pools")
