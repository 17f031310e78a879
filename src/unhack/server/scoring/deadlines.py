"""Deadlines: `X-Deadline-Ms` of the header or `deadline_s` of the body, whichever ends first."""

from __future__ import annotations

import re
import time

from starlette.requests import Request

from unhack.server.http.problems import invalid

HEADER = "X-Deadline-Ms"
LONGEST_S = 7 * 86400.0


def deadline_of(request: Request, deadline_s: float | None) -> float | None:
    """The time at which the request ends, in seconds since 1970; None for none.

    Raises RequestRefused (422).
    """
    given = request.headers.get(HEADER)
    waits = [] if deadline_s is None else [deadline_s]
    if given is not None:
        if not re.fullmatch(r"[0-9]{1,9}", given) or not 0 < int(given) <= LONGEST_S * 1000:
            raise invalid(HEADER, "give milliseconds from 1 to 604800000")
        waits.append(int(given) / 1000)
    return time.time() + min(waits) if waits else None
