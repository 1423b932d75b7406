"""The key-value store that graphs use: documents by namespace and key."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.Float(53)


def upgrade() -> None:
    """Make the table; it is empty at first."""
    op.create_table(
        "documents",
        sa.Column("num", _BIG, autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=True),
        sa.Column("ttl", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("num"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_documents_key", "documents", ["namespace", "key"], unique=True)
    op.create_index(
        "ix_documents_expires", "documents", ["expires_at"], sqlite_where=sa.text("expires_at is not null")
    )


def downgrade() -> None:
    """Remove the table, and what search knew of its rows."""
    op.execute("delete from items where kind = 'document'")
    op.drop_index("ix_documents_expires", table_name="documents")
    op.drop_index("uq_documents_key", table_name="documents")
    op.drop_table("documents")
