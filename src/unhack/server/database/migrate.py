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
from sqlalchemy.exc import OperationalError

from unhack.core.errors import UsageError

_FOLDER = Path(__file__).parent / "migrations"


def migrate(engine: sa.Engine) -> None:
    """Bring the database up to date. Raises UsageError for one of a newer unhack."""
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    known = {each.revision for each in ScriptDirectory.from_config(config).walk_revisions()}
    try:
        with engine.begin() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
            if found is not None and found not in known:
                raise UsageError(
                    f"the database is of a newer unhack (its version is {found}); update unhack"
                )
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except OperationalError as error:
        raise UsageError(f"the database does not answer: {str(error.orig).strip()}") from None
