"""The tables of `schema`.

Until the first release the schema is the only description of the tables. From then on, what it
described at that release is copied here, and each change of it is a further version.
"""

from __future__ import annotations

from alembic import op

from unhack.server.database.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables. A table that is there already is an error: nobody of ours made it."""
    metadata.create_all(op.get_bind(), checkfirst=False)
