"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _access()
    _batches()
    _jobs()


def _access() -> None:
    op.create_table(
        "tenants",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenants"),
        sa.UniqueConstraint("name", name="uq_tenants_name"),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.String(12), nullable=False),
        sa.Column("tenant_id", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("scopes", sa.String(200), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("revoked_at", sa.Float),
        sa.PrimaryKeyConstraint("id", name="pk_keys"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_keys_tenant_id"),
    )
    op.create_index("ix_keys_tenant_id", "keys", ["tenant_id"])


def _batches() -> None:
    op.create_table(
        "batches",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("tenant_id", sa.Integer, nullable=False),
        sa.Column("origin", sa.String(20), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("group_size", sa.Integer),
        sa.Column("estimator", sa.String(20), nullable=False, server_default="grpo"),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("deadline_at", sa.Float),
        sa.Column("finished_at", sa.Float),
        sa.Column("error", sa.Text),
        sa.Column("idempotency_key", sa.String(200)),
        sa.Column("body_digest", sa.String(64)),
        sa.PrimaryKeyConstraint("id", name="pk_batches"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_batches_tenant_id"),
        sa.UniqueConstraint(
            "tenant_id", "idempotency_key", name="uq_batches_tenant_id_idempotency_key"
        ),
    )
    op.create_index("ix_batches_tenant_id_created_at", "batches", ["tenant_id", "created_at"])
    op.create_index("ix_batches_state", "batches", ["state"])
    op.create_table(
        "inline_tasks",
        sa.Column("tenant_id", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "digest", name="pk_inline_tasks"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_inline_tasks_tenant_id"),
    )
    op.create_table(
        "items",
        sa.Column("batch_id", sa.String(32), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("tenant_id", sa.Integer, nullable=False),
        sa.Column("judged_at", sa.Float),
        sa.Column("status", sa.String(12)),
        sa.Column("reward", sa.Float),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("completion", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.PrimaryKeyConstraint("batch_id", "position", name="pk_items"),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_items_batch_id"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_items_tenant_id"),
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("tenant_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float),
        sa.Column("finished_at", sa.Float),
        sa.Column("idempotency_key", sa.String(200)),
        sa.Column("body_digest", sa.String(64)),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_jobs_tenant_id"),
        sa.UniqueConstraint(
            "tenant_id", "idempotency_key", name="uq_jobs_tenant_id_idempotency_key"
        ),
    )
    op.create_index("ix_jobs_tenant_id_created_at", "jobs", ["tenant_id", "created_at"])
    op.create_index("ix_jobs_state", "jobs", ["state"])
