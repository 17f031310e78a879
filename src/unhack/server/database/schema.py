"""The tables. Times are seconds since 1970 UTC; JSON is text, so that both databases keep it alike.

Every table but `tenants` names its tenant, and every query in this package asks for one.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

tenants = sa.Table(
    "tenants",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    sa.Column("created_at", sa.Float, nullable=False),
)

keys = sa.Table(
    "keys",
    metadata,
    sa.Column("id", sa.String(12), primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False, index=True),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("scopes", sa.String(200), nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("revoked_at", sa.Float),
)

batches = sa.Table(
    "batches",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False),
    sa.Column("origin", sa.String(20), nullable=False),  # the route that it came by
    sa.Column("state", sa.String(12), nullable=False),  # accepted, done, failed, cancelled
    sa.Column("group_size", sa.Integer),
    sa.Column("count", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("deadline_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    sa.Column("error", sa.Text),
    sa.Column("idempotency_key", sa.String(200)),
    sa.Column("body_digest", sa.String(64)),
    sa.UniqueConstraint("tenant_id", "idempotency_key"),
    sa.Index(None, "tenant_id", "created_at"),
    sa.Index(None, "state"),
)

items = sa.Table(
    "items",
    metadata,
    sa.Column("batch_id", sa.String(32), sa.ForeignKey("batches.id"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False),
    sa.Column("task", sa.Text, nullable=False),  # JSON: as the request named it
    sa.Column("completion", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text),  # JSON of `Verdict.to_json`; NULL while it is not judged
    sa.Column("judged_at", sa.Float),
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False),
    sa.Column("home", sa.String(32), nullable=False),  # the data folder that has its run folder
    sa.Column("kind", sa.String(12), nullable=False),  # audit, tournament
    sa.Column("state", sa.String(12), nullable=False),  # queued, running, done, failed, cancelled
    sa.Column("request", sa.Text, nullable=False),  # JSON
    sa.Column("result", sa.Text),  # JSON
    sa.Column("error", sa.Text),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("started_at", sa.Float),
    sa.Column("finished_at", sa.Float),
    sa.Column("idempotency_key", sa.String(200)),
    sa.Column("body_digest", sa.String(64)),
    sa.UniqueConstraint("tenant_id", "idempotency_key"),
    sa.Index(None, "tenant_id", "created_at"),
    sa.Index(None, "state"),
)
