"""The directory of tenants and keys, kept in the database."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from unhack.core.errors import UsageError
from unhack.server.access.caller import Caller, Grant
from unhack.server.access.keys import id_of, matches, new_key
from unhack.server.database import schema
from unhack.server.database.database import Database

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key as it is listed. Times are seconds since 1970."""

    id: str
    tenant: str
    scopes: tuple[str, ...]
    created_at: float
    revoked_at: float | None
    items_limit: int | None = None
    requests_limit: int | None = None


class Directory:
    """Keys and the tenants that own them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_key(
        self,
        tenant: str,
        scopes: Iterable[Grant],
        *,
        items: int | None = None,
        requests: int | None = None,
    ) -> str:
        """The text of a new key, which is shown this once; a new tenant is made. `items` and
        `requests` are limits of its own (see `Caller`).

        Raises UsageError for a name that is none.
        """
        if not _NAME.fullmatch(tenant):
            raise UsageError(
                f"{tenant[:40]!r} is not a name; at most 100 of letters, digits, '-', '_' and '.', "
                "the first a letter or a digit"
            )
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
                    items_limit=items,
                    requests_limit=requests,
                )
            )

        self._database.write(store).result()
        return made.text

    def is_empty(self) -> bool:
        """True before the first key."""
        asked = sa.select(schema.keys.c.id).limit(1)
        return self._database.scalar(asked) is None

    def key_lines(self) -> list[KeyLine]:
        """All keys, without what would let anybody in, oldest first."""
        columns = [each for each in schema.keys.c if each.name not in ("tenant_id", "digest")]
        asked = sa.select(*columns, schema.tenants.c.name.label("tenant")).join(schema.tenants)
        lines: list[KeyLine] = []
        for row in self._database.rows(asked.order_by(schema.keys.c.created_at)):
            values: dict[str, Any] = {**row, "scopes": tuple(row["scopes"].split())}
            lines.append(KeyLine(**values))
        return lines

    def revoke(self, key_id: str) -> None:
        """End a key. Raises UsageError."""
        if key_id not in {line.id for line in self.key_lines()}:
            raise UsageError(
                f"there is no key {key_id[:40]!r}; `unhack serve keys list` lists them"
            )
        revoked = (
            sa.update(schema.keys)
            .where(schema.keys.c.id == key_id, schema.keys.c.revoked_at.is_(None))
            .values(revoked_at=time.time())
        )
        self._database.execute(revoked).result()

    def caller(self, text: str) -> Caller | None:
        """The owner of a key; None for one that is unknown, malformed or revoked."""
        key_id = id_of(text)
        if key_id is None:
            return None
        row = self._database.row(
            sa.select(schema.keys, schema.tenants.c.name)
            .join(schema.tenants)
            .where(schema.keys.c.id == key_id)
        )
        if row is None or row["revoked_at"] is not None or not matches(text, row["digest"]):
            return None
        scopes = frozenset(map(Grant, row["scopes"].split()))
        limits = row["items_limit"], row["requests_limit"]
        return Caller(row["tenant_id"], row["name"], key_id, scopes, *limits)
