"""The directory of tenants and keys, kept in the database."""

from __future__ import annotations

import time
from collections.abc import Iterable

import sqlalchemy as sa

from unhack.server.access.caller import Caller, Grant
from unhack.server.access.keys import id_of, matches, new_key
from unhack.server.database import schema
from unhack.server.database.database import Database


class Directory:
    """Keys and the tenants that own them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_key(self, tenant: str, scopes: Iterable[Grant]) -> str:
        """The text of a new key, which is shown this once; a new tenant is made."""
        made = new_key()
        now = time.time()

        def store(connection: sa.Connection) -> None:
            found = connection.execute(
                sa.select(schema.tenants.c.id).where(schema.tenants.c.name == tenant)
            ).scalar()
            if found is None:
                [found] = connection.execute(
                    sa.insert(schema.tenants)
                    .values(name=tenant, created_at=now)
                    .returning(schema.tenants.c.id)
                ).one()
            connection.execute(
                sa.insert(schema.keys).values(
                    id=made.id,
                    tenant_id=found,
                    digest=made.digest,
                    scopes=" ".join(sorted(scopes)),
                    created_at=now,
                )
            )

        self._database.write(store).result()
        return made.text

    def caller(self, text: str) -> Caller | None:
        """The owner of a key; None for one that is unknown, malformed or revoked."""
        key_id = id_of(text)
        if key_id is None:
            return None
        row = self._database.read(
            lambda connection: connection.execute(
                sa.select(schema.keys, schema.tenants.c.name)
                .join(schema.tenants)
                .where(schema.keys.c.id == key_id)
            ).one_or_none()
        )
        if row is None or row.revoked_at is not None or not matches(text, row.digest):
            return None
        scopes = frozenset(map(Grant, row.scopes.split()))
        return Caller(row.tenant_id, row.name, key_id, scopes)
