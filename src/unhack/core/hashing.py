"""Stable content hashes."""

from __future__ import annotations

import hashlib


def content_hash(*parts: str | bytes) -> str:
    """SHA-256 over length-prefixed parts, so that no two part lists collide by concatenation."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
