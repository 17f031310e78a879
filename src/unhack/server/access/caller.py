"""Callers: the tenant behind a request, and what its key may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grant(StrEnum):
    """The things that a key may ask for."""

    SCORE = "score"
    AUDIT = "audit"
    TOURNAMENT = "tournament"
    ENVIRONMENTS = "environments"
    READ = "read"
    """Results and pages of the key's own tenant."""
    METRICS = "metrics"
    """Figures of the whole server, of all tenants together."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a valid key."""

    tenant_id: int
    tenant: str
    key_id: str
    scopes: frozenset[Grant]
    items_limit: int | None = None
    """Completions of its tenant that may be open when this key sends more; None is the server's."""
    requests_limit: int | None = None
    """Requests by this key in a minute; None is the server's, for all keys of the tenant."""
