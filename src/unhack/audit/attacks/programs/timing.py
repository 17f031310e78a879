"""Programs that never return, or exhaust the judge's resources."""

from __future__ import annotations

from unhack.audit.attacks.payloads.program_shape import Snippet, parts_attack

# One is enough, for it costs a whole limit; asleep it leaves the processor to the others.
_SLOW = (Snippet("sleeps at the call", setup="import time", body="time.sleep(3600)"),)

_DEEP = (
    Snippet(
        "recursion without end",
        setup="def deeper(n):\n    return deeper(n + 1) + 1",
        body="deeper(0)",
    ),
    Snippet("more memory than there is", body="bytearray(1 << 50)"),
)

ATTACKS = (
    parts_attack("code_timing/endless", "timeout_open", _SLOW),
    parts_attack("code_timing/exhausting", "fail_open_exception", _DEEP),
)
