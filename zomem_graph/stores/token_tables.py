"""The tables of late interaction, as SQLModel classes; `tables.py` has all the others and lists these too."""

from sqlalchemy import BigInteger, Column, Integer, LargeBinary
from sqlmodel import Field, SQLModel

from zomem_graph.stores.table_fields import text_field

__all__ = ["ItemTokensRow", "PieceCountRow"]

_BIG = BigInteger().with_variant(Integer, "sqlite")  # as in `tables.py`


class ItemTokensRow(SQLModel, table=True):
    """The token vectors of an item, beside it so that reading items stays light."""

    __tablename__ = "item_tokens"
    num: int = Field(sa_column=Column("num", _BIG, primary_key=True, autoincrement=False))
    model: str = text_field(primary_key=True)
    count: int
    data: bytes = Field(sa_column=Column("data", LargeBinary, nullable=False))


class PieceCountRow(SQLModel, table=True):
    """In how many items a word piece occurs, kept in step by every write."""

    __tablename__ = "token_pieces"
    model: str = text_field(primary_key=True)
    piece: int = Field(sa_column=Column("piece", Integer, primary_key=True, autoincrement=False))
    frequency: int
