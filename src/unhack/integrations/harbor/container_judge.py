"""The judge that an exported Harbor folder carries, as `tests/judge.py`.

    python3 judge.py APP LOGS

It judges the answer's file in APP with the task beside it and writes LOGS/reward.json. Without a
verdict it writes none, and exits with 3: no reward is Harbor's word for a trial without a score.

Covered: an answer that is missing, a link, no file or more than 8 MiB is a 0.
Not covered: a host that cannot isolate the task's kind of jobs; it says so, and writes no reward.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

from unhack.core.errors import UnhackError
from unhack.tasks.batch import run_batch
from unhack.tasks.suite import find_task
from unhack.verifiers.reward import reward_of

_MOST_BYTES = 8 << 20


def read_answer(place: Path) -> str | None:
    """The text of a regular file; None for anything else. No link is followed."""
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    return data.decode(errors="replace") if len(data) <= _MOST_BYTES else None


def main() -> int:
    """Judge once; the exit status."""
    here = Path(__file__).resolve().parent
    app, logs = (Path(one) for one in sys.argv[1:3])
    plan = json.loads((here / "plan.json").read_text())
    row = "" if plan["row"] is None else f"#{plan['row']}"
    answer = read_answer(app / plan["answer"])
    reward, reason = 0.0, f"there is no file {plan['answer']}, or it is none that can be judged"
    if answer is not None:
        try:
            [verdict] = run_batch(find_task(f"{here}/task{row}"), [answer]).verdicts
        except UnhackError as error:
            print(f"not scored: {error}", file=sys.stderr)
            return 3
        found, reason = reward_of(verdict), verdict.reason
        if found is None:
            print(f"not scored: {reason}", file=sys.stderr)
            return 3
        reward = found
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "reward.json").write_text(json.dumps({"reward": reward}) + "\n")
    print(f"reward {reward:g}" + (f": {reason}" if reason else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
