"""Alembic's entry: runs the numbered steps on the connection that `schema.py` hands over."""

from alembic import context
from sqlmodel import SQLModel

from zomem_graph.stores import tables

assert tables.__all__  # importing the module fills SQLModel.metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
