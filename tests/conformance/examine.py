"""What this process finds when it examines its own host, as JSON on stdout: `examine.py WHAT`.

    checks LEVEL   the conformance checks of one backend: [claim, state, reason] lists
    doctor         the doctor's report, without the checks
    jobs           one trivial job of each kind on a pool that picks its level: kind -> outcome

A program, not a module: tests run it as another user, or after `lesser_host.py` has taken something
away.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from unhack.sandbox import conformance
from unhack.sandbox.conformance import Probe
from unhack.sandbox.doctor import diagnosis
from unhack.sandbox.job import Isolation, Kind, Profile
from unhack.sandbox.pool.pool import Pool


def check(level: str) -> list[Any]:
    """Every claim about one backend."""
    tested = Pool(slots=1, isolation=Isolation(level))
    try:
        results = conformance.run_checks(tested)
    finally:
        tested.close()
    return [[result.claim, result.state.value, result.reason] for result in results]


def run_kinds() -> dict[str, Any]:
    """How a pool that picks its own level treats each kind of job."""
    pool = Pool(slots=1)
    probe = Probe(pool)
    found: dict[str, Any] = {}
    source = "def f():\n try: return open('/etc/passwd').read(9)\n except OSError: return 'denied'"
    for kind in Kind:
        _, wait = probe.start(probe.job(source, [[]], profile=Profile(kind=kind)))
        outcome = wait()
        found[kind.value] = {
            "ending": outcome.ending.value,
            "isolation": outcome.isolation.value,
            "result": outcome.result.decode(),
            "error": outcome.error,
        }
    pool.close()
    return found


def main() -> None:
    """See the module's docstring."""
    match sys.argv[1:]:
        case ["checks", level]:
            answer: Any = check(level)
        case ["doctor"]:
            answer = diagnosis.examine(checks=False).to_json()
        case ["jobs"]:
            answer = run_kinds()
        case _:
            sys.exit(__doc__)
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
