"""The entry of Alembic: runs the versions on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from unhack.server.database.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
