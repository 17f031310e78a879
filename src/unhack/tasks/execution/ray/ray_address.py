"""The address of a Ray: looked at before Ray is, and what a failed connection means.

Ray waits for minutes for an address at which nothing listens, and says little of why one that does
listen will not have it.

Covered: addresses that are none, hosts without a name, ports at which nothing listens, other
versions of Ray and Python, a Ray that asks for a token.
Not covered: a Ray that is there and falls silent while it is joined; Ray gives up by itself.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Generator

from unhack.core.errors import UsageError

_PLACE = re.compile(r"(?:ray://)?(\[[0-9a-fA-F:.%]+\]|[^:/\s]+):([0-9]{1,5})")
_WAIT_S = 10.0
"""Longest time for a connection; a head node of the same cluster takes milliseconds."""


def check_reachable(address: str) -> None:
    """Raise UsageError for an address at which nothing listens. What is no host and port, such as
    `auto`, is left to Ray."""
    found = _PLACE.fullmatch(address)
    if found is None:
        return
    try:
        socket.create_connection((found[1].strip("[]"), int(found[2])), _WAIT_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray answers at {address}: {error}; give the address of a head node "
            "(`ray start --head` prints it), or unset RAY_ADDRESS for a Ray of this machine"
        ) from None


@contextlib.contextmanager
def joining(address: str) -> Generator[None]:
    """Raise what Ray's `init` raises for an address as UsageError with what to do."""
    try:
        yield
    except (ConnectionError, RuntimeError, ValueError) as error:
        said = " ".join(str(error).split())[:500]
        raise UsageError(
            f"this process could not join the Ray at {address}: {said}; Ray and Python must have "
            "the versions that the cluster has, and a cluster that asks for a token wants "
            "RAY_AUTH_MODE=token and its token here too"
        ) from error
