"""The tables. Times are seconds since 1970 UTC; JSON is text, so that both databases keep it alike.

Every table but `tenants` names its tenant, and every query in this package asks for one.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa


class AnyText(sa.TypeDecorator[str]):
    """Any text, kept as JSON: PostgreSQL has no text with a NUL in it, and completions may."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """The text as it is kept."""
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Any) -> str | None:
        """The text as it came."""
        return None if value is None else json.loads(value)


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
    sa.Column("items_limit", sa.Integer),  # NULL: the server's
    sa.Column("requests_limit", sa.Integer),
)

batches = sa.Table(
    "batches",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False),
    sa.Column("origin", sa.String(20), nullable=False),  # the route that it came by
    # receiving (not yet promised), accepted, done, expired (its deadline), failed, cancelled
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
    sa.UniqueConstraint("tenant_id", "idempotency_key"),
    sa.Index(None, "tenant_id", "created_at"),
    sa.Index(None, "state"),
)

inline_tasks = sa.Table(  # tasks that came with a request
    "inline_tasks",
    metadata,
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), primary_key=True),
    sa.Column("digest", sa.String(64), primary_key=True),  # SHA-256 of the body
    sa.Column("body", sa.Text, nullable=False),  # JSON
    sa.Column("used_at", sa.Float, nullable=False, server_default="0"),  # to the hour
)

_TWINS = sa.text("same_as IS NOT NULL")
items = sa.Table(
    "items",
    metadata,
    sa.Column("batch_id", sa.String(32), sa.ForeignKey("batches.id"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False),
    sa.Column("judged_at", sa.Float),
    sa.Column("status", sa.String(12)),  # of the verdict; NULL while it is not judged
    sa.Column("reward", sa.Float),  # NULL for an unscored verdict too
    sa.Column("task", sa.Text, nullable=False),  # JSON: "ID", or {"inline": DIGEST}
    sa.Column("completion", AnyText, nullable=False),
    sa.Column("verdict", sa.Text),  # JSON of `Verdict.to_json`; NULL while it is not judged
    sa.Column("same_as", sa.Integer),  # the first position with the same task and completion
    sa.Column("outputs", sa.Text),  # JSON of `outputs_text`; NULL where nothing is kept
    sa.Index(None, "batch_id", "same_as", sqlite_where=_TWINS, postgresql_where=_TWINS),
)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("tenant_id", sa.Integer, sa.ForeignKey("tenants.id"), nullable=False),
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
