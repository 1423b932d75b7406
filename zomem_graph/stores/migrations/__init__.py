"""Alembic's numbered steps, up and down."""
