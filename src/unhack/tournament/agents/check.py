"""`unhack-check`: the judge's own path on development data, from inside a workspace.

The script sends nothing but a request. The host takes the declared files as they stand, with every
process of the agent stopped, and answers with the fitness to the digits that its noise leaves.

Covered: files that are no regular files are not taken, as at the end of a round.
Not covered: flags are not told: an agent learns whether it is valid, not what was suspected.
"""

from __future__ import annotations

import math
from typing import Any

from unhack.sandbox.workspace.process_tree import ProcessTree
from unhack.tournament.agents.agent import Seat
from unhack.tournament.contest import DECLINED, Declared, Measurement, Metric

SCRIPT = """#!{python} -I
\"\"\"Ask the judge what the submission in the workspace is worth on development data.\"\"\"
import http.client, json, sys

link = http.client.HTTPConnection("127.0.0.1", {port}, timeout=3600)
try:
    link.request("POST", "/check", headers={{"authorization": "Bearer {token}"}})
    answer = json.loads(link.getresponse().read())
except (OSError, ValueError, http.client.HTTPException) as error:
    sys.exit(f"no answer: {{error}}")
if "--json" in sys.argv[1:]:
    print(json.dumps(answer))
else:
    print(answer.get("text", answer))
sys.exit(0 if answer.get("valid") else 1)
"""
_MAX_REASON = 2000
_DIGITS = 3


_SHARES = 3
"""The champion's files and the agent's own best match the patterns too. They are taken out before
the limits of the contest are applied."""


def patterns(declared: Declared) -> tuple[str, ...]:
    """Which files of a workspace are the submission."""
    return (*declared.required, *declared.optional, DECLINED)


def snapshot(tree: ProcessTree, declared: Declared) -> dict[str, bytes]:
    """The submission as it stands; the process tree is stopped meanwhile."""
    tree.freeze(holder="snapshot")
    try:
        return dict(
            tree.read(
                patterns(declared),
                max_files=_SHARES * declared.max_files,
                max_bytes=_SHARES * declared.max_bytes,
            )
        )
    finally:
        tree.thaw(holder="snapshot")


def answer_check(seat: Seat, tree: ProcessTree) -> dict[str, Any]:
    """The answer of `unhack-check`."""
    files = snapshot(tree, seat.contest.declared)
    return measurement_fields(seat.check(files))


def measurement_fields(measured: Measurement) -> dict[str, Any]:
    """A measurement, to the digits that its noise leaves."""
    if not measured.valid:
        reason = measured.reason[:_MAX_REASON]
        return {"valid": False, "reason": reason, "text": f"not valid: {reason}"}
    noise = max(0.0, (measured.high - measured.low) / 2)
    fitness = rounded(measured.fitness, noise)
    spread = float(f"{noise:.1g}")
    metrics = {name: _short(value) for name, value in measured.metrics.items()}
    lines = [f"fitness {fitness:g} ± {spread:g} (development data, 95 %)"]
    lines += [f"  {name}: {value}" for name, value in metrics.items()]
    return {
        "valid": True,
        "fitness": fitness,
        "noise": spread,
        "metrics": metrics,
        "text": "\n".join(lines),
    }


def rounded(value: float, noise: float) -> float:
    """`value` to the place of the first digit of its noise; three digits where there is none."""
    if not math.isfinite(value):
        return 0.0
    if noise <= 0 or not math.isfinite(noise):
        return float(f"{value:.{_DIGITS}g}")
    return round(value, -math.floor(math.log10(noise)))


def _short(value: Metric) -> Metric:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else str(value)
    return value
