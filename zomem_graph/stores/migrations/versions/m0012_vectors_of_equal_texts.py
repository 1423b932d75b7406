"""Finds the vector that an equal text has already, and on PostgreSQL what waits for one."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index; on PostgreSQL the one of what waits becomes partial, as it is on SQLite."""
    has_vector = sa.text("embedding is not null")
    op.create_index("ix_items_text", "items", ["text_hash"], sqlite_where=has_vector, postgresql_where=has_vector)
    if op.get_bind().dialect.name == "postgresql":
        op.drop_index("ix_items_pending", "items")
        op.create_index("ix_items_pending", "items", ["state"], postgresql_where=sa.text("embedding is null"))


def downgrade() -> None:
    """Make them as they were."""
    op.drop_index("ix_items_text", "items")
    if op.get_bind().dialect.name == "postgresql":
        op.drop_index("ix_items_pending", "items")
        op.create_index("ix_items_pending", "items", ["state"])
