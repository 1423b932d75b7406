"""What came of each item of an import, so that a second import changes nothing."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "imports",
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.Column("first_at", sa.Float(53), nullable=False),
        sa.Column("last_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("persona", "source", "item"),
    )
    op.create_index("ix_imports_digest", "imports", ["persona", "source", "digest"], unique=False)


def downgrade() -> None:
    """Remove it; what was imported stays."""
    op.drop_table("imports")
