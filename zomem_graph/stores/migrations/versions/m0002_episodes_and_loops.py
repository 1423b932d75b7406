"""Episodes with their entities, and open loops (spec T7, T8, T13)."""

import sqlalchemy as sa
from alembic import op

from zomem_graph.stores.outbox import collection_name

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; their searchable side is in `items`."""
    _episodes()
    _episode_entities()
    _open_loops()


def downgrade() -> None:
    """Remove the tables and what search and index know of them."""
    _leave_search()
    op.drop_table("open_loops")
    op.drop_table("episode_entities")
    op.drop_table("episodes")


def _leave_search() -> None:
    connection, ours = op.get_bind(), "kind in ('episode', 'loop')"
    indexed = connection.execute(
        sa.text(f"select id, persona, kind, embedder from items where {ours} and embedder is not null")
    ).all()
    for id_, persona, kind, embedder in indexed:
        connection.execute(
            sa.text("insert into outbox (item_id, collection, op) values (:id, :collection, 'delete')"),
            {"id": id_, "collection": collection_name(persona, kind, embedder)},
        )
    op.execute(f"delete from mentions where num in (select num from items where {ours})")
    op.execute(f"delete from items where {ours}")
    op.execute(f"delete from collections where {ours}")


def _episodes() -> None:
    op.create_table(
        "episodes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("happened_at", sa.Float(53), nullable=False),
        sa.Column("duration_ms", sa.Float(), nullable=True),
        sa.Column("procedure_id", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_episodes_happened", "episodes", ["persona", "happened_at"], unique=False)
    op.create_index("ix_episodes_outcome", "episodes", ["outcome"], unique=False)
    op.create_index("ix_episodes_session", "episodes", ["persona", "session"], unique=False)


def _episode_entities() -> None:
    op.create_table(
        "episode_entities",
        sa.Column("episode_id", sa.Text(), nullable=False),
        sa.Column("entity", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("episode_id", "entity"),
    )
    op.create_index("ix_episode_entities_entity", "episode_entities", ["entity"], unique=False)


def _open_loops() -> None:
    op.create_table(
        "open_loops",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("priority", sa.Float(), nullable=False),
        sa.Column("entity", sa.Text(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Text(), nullable=True),
        sa.Column("related_episode_id", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.Column("updated_at", sa.Float(53), nullable=False),
        sa.Column("snoozed_until", sa.Float(53), nullable=True),
        sa.Column("expires_at", sa.Float(53), nullable=True),
        sa.Column("resolved_at", sa.Float(53), nullable=True),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_loops_status", "open_loops", ["persona", "status", "updated_at"], unique=False)
    op.create_index(
        "uq_loops_fingerprint",
        "open_loops",
        ["persona", "fingerprint"],
        unique=True,
        sqlite_where=sa.text("status in ('open', 'stale')"),
        postgresql_where=sa.text("status in ('open', 'stale')"),
    )
