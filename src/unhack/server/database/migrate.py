"""Migrations: a database is brought to this version's tables at every start.

A new version is a file in `migrations/versions`; a test holds the sum of all against `schema`.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DatabaseError, OperationalError

from unhack.core.errors import UsageError
from unhack.server.database.schema import metadata

_FOLDER = Path(__file__).parent / "migrations"
_TABLES = metadata.tables
_FIRST = {"tenants", "keys", "batches", "items"}
"""Tables of every version."""


def migrate(engine: sa.Engine) -> None:
    """Bring the database up to date. Raises UsageError for one that is no database of this unhack:
    of a newer one, of something else, or none."""
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    known = {each.revision for each in ScriptDirectory.from_config(config).walk_revisions()}
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":  # else each statement would be for good by itself
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            found = MigrationContext.configure(connection).get_current_revision()
            _check(connection, found, known)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except OperationalError as error:
        raise UsageError(f"the database does not answer: {_words(error)}") from None
    except DatabaseError as error:
        raise UsageError(f"--database names no database of unhack: {_words(error)}") from None


def _check(connection: sa.Connection, found: str | None, known: set[str]) -> None:
    """Raise UsageError for the tables of a newer unhack, or of somebody else."""
    taken = set(sa.inspect(connection).get_table_names())
    if found is not None and not taken >= _FIRST:  # other programs count their versions so too
        raise UsageError(
            f"the database has the versions of another program (its version is {found}); give "
            "unhack a --database of its own"
        )
    if found is not None and found not in known:
        raise UsageError(
            f"the database is of a newer unhack (its version is {found}); update unhack, or give "
            "this one a --database of its own"
        )
    if found is None and (ours := taken & set(_TABLES)):
        raise UsageError(
            f"the database has a table {min(ours)!r} that unhack did not make; give unhack a "
            "--database of its own"
        )


def _words(error: DatabaseError) -> str:
    return " ".join(str(error.orig).split())
