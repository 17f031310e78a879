"""Messages from the other end of a socket pair, to the last that it sent.

Covered: an end that closes with bytes unread. The kernel then answers ECONNRESET once, on sockets
of packets even before what was sent earlier; the messages, and the end after them, follow.
Not covered: TCP, where a reset also discards what had arrived.
Source: unix(7).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def receive(read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """`read(*args)`, such as `receive(end.recv, 64)`; nothing was received once it has ended.

    It never waits for an end that is closed: the second call finds a message or the end.
    """
    try:
        return read(*args, **kwargs)
    except ConnectionResetError:
        return read(*args, **kwargs)
