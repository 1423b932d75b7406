"""The first tables: items, facts, turns, links, mentions, outbox, logs and queues."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables; the full text over `items` is the dialect's."""
    _meta()
    _items()
    _mentions()
    _speakers()
    _collections()
    _outbox()
    _facts()
    _turns()
    _links()
    _embedding_cache()
    _access_log()
    _capture_log()
    _extractions()
    _gate_log()


def downgrade() -> None:
    """Remove everything."""
    op.drop_table("gate_log")
    op.drop_table("extractions")
    op.drop_table("capture_log")
    op.drop_table("access_log")
    op.drop_table("embedding_cache")
    op.drop_table("links")
    op.drop_table("turns")
    op.drop_table("facts")
    op.drop_table("outbox")
    op.drop_table("collections")
    op.drop_table("speakers")
    op.drop_table("mentions")
    op.drop_table("items")
    op.drop_table("meta")


def _meta() -> None:
    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )


def _items() -> None:
    op.create_table(
        "items",
        sa.Column("num", _BIG, autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.Column("ended_at", sa.Float(53), nullable=True),
        sa.Column("expires_at", sa.Float(53), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("words_scope", sa.Text(), nullable=False),
        sa.Column("words_self", sa.Text(), nullable=False),
        sa.Column("words_prev", sa.Text(), nullable=False),
        sa.Column("words_next", sa.Text(), nullable=False),
        sa.Column("words_date", sa.Text(), nullable=False),
        sa.Column("words_title", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=True),
        sa.Column("embedding", sa.LargeBinary(), nullable=True),
        sa.Column("vec_seq", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("num"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_items_collection", "items", ["persona", "kind", "state", "vec_seq"], unique=False)
    op.create_index("ix_items_created", "items", ["persona", "created_at"], unique=False)
    op.create_index(
        "ix_items_expires",
        "items",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("expires_at is not null"),
    )
    op.create_index("ix_items_pending", "items", ["state"], unique=False, sqlite_where=sa.text("embedding is null"))
    op.create_index("ix_items_session", "items", ["persona", "session"], unique=False)
    op.create_index("ix_items_vec_seq", "items", ["vec_seq"], unique=False)


def _mentions() -> None:
    op.create_table(
        "mentions",
        sa.Column("num", _BIG, autoincrement=False, nullable=False),
        sa.Column("entity", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("num", "entity"),
    )
    op.create_index("ix_mentions_entity", "mentions", ["persona", "entity"], unique=False)


def _speakers() -> None:
    op.create_table(
        "speakers",
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("persona", "name"),
    )


def _collections() -> None:
    op.create_table(
        "collections",
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("embedder", sa.Text(), nullable=False),
        sa.Column("live", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("persona", "kind", "embedder"),
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("seq", _BIG, autoincrement=True, nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("op", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )


def _facts() -> None:
    op.create_table(
        "facts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("entity", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("many", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.Column("ended_at", sa.Float(53), nullable=True),
        sa.Column("expires_at", sa.Float(53), nullable=True),
        sa.Column("last_accessed", sa.Float(53), nullable=True),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("turn_id", sa.Text(), nullable=True),
        sa.Column("quote", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_facts_entity", "facts", ["persona", "entity", "key"], unique=False)
    op.create_index("ix_facts_turn", "facts", ["turn_id"], unique=False)
    op.create_index(
        "uq_facts_slot",
        "facts",
        ["persona", "slot"],
        unique=True,
        sqlite_where=sa.text("state = 'current'"),
        postgresql_where=sa.text("state = 'current'"),
    )


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=True),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_turns_thread", "turns", ["persona", "thread"], unique=False)
    op.create_index("uq_turns_place", "turns", ["persona", "session", "position"], unique=True)


def _links() -> None:
    op.create_table(
        "links",
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("target_id", sa.Text(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "target_id", "relation"),
    )
    op.create_index("ix_links_target", "links", ["target_id"], unique=False)


def _embedding_cache() -> None:
    op.create_table(
        "embedding_cache",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("model", "text_hash"),
    )


def _access_log() -> None:
    op.create_table(
        "access_log",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("turn_key", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("item_id", "turn_key"),
    )
    op.create_index("ix_access_at", "access_log", ["at"], unique=False)


def _capture_log() -> None:
    op.create_table(
        "capture_log",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("facts", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("superseded", sa.Integer(), nullable=False),
        sa.Column("redacted", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.Column("duration_ms", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_capture_digest", "capture_log", ["persona", "digest"], unique=False)


def _extractions() -> None:
    op.create_table(
        "extractions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("turn_ids", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("not_before", sa.Float(53), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_extractions_due", "extractions", ["status", "not_before"], unique=False)


def _gate_log() -> None:
    op.create_table(
        "gate_log",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=False),
        sa.Column("message_hash", sa.Text(), nullable=False),
        sa.Column("keywords", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_gate_created", "gate_log", ["created_at"], unique=False)
