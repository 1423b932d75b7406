"""Token vectors of items and how common each word piece is, for late interaction."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables; they are filled when the model is there."""
    op.create_table(
        "item_tokens",
        sa.Column("num", _BIG, autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("num", "model"),
    )
    op.create_table(
        "token_pieces",
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("piece", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("model", "piece"),
    )


def downgrade() -> None:
    """Remove the tables and how far they were filled."""
    op.drop_table("token_pieces")
    op.drop_table("item_tokens")
    op.execute("delete from meta where key like 'tokens.%'")
