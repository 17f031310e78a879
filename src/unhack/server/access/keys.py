"""Keys: made here, kept as a hash, compared in constant time.

A key is `uh_ID_SECRET`: the id is public and finds the row, the secret has 192 bits, so that one
round of SHA-256 is enough to keep it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_PATTERN = re.compile(r"uh_([0-9a-f]{12})_([0-9A-Za-z_-]{32})")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key as it is shown once."""

    id: str
    text: str
    digest: str
    """SHA-256 of the text, hexadecimal: what is kept."""


def new_key() -> NewKey:
    """A fresh key."""
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(24)
    text = f"uh_{key_id}_{secret}"
    return NewKey(key_id, text, digest_of(text))


def id_of(text: str) -> str | None:
    """The id of what looks like a key; None for everything else."""
    found = _PATTERN.fullmatch(text)
    return found.group(1) if found else None


def matches(text: str, digest: str) -> bool:
    """True when the digest is that of the key."""
    return hmac.compare_digest(digest_of(text), digest)


def digest_of(text: str) -> str:
    """SHA-256 of a key's text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
