"""Limits of keys, items that are as others, outputs of cases, the last use of tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("keys", sa.Column("items_limit", sa.Integer))
    op.add_column("keys", sa.Column("requests_limit", sa.Integer))
    op.add_column("items", sa.Column("same_as", sa.Integer))
    op.add_column("items", sa.Column("outputs", sa.Text))
    op.add_column(
        "inline_tasks", sa.Column("used_at", sa.Float, nullable=False, server_default="0")
    )
    twins = sa.text("same_as IS NOT NULL")
    op.create_index(
        "ix_items_batch_id_same_as", "items", ["batch_id", "same_as"],
        sqlite_where=twins, postgresql_where=twins,
    )  # fmt: skip
