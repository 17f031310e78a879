"""A foreign grader as data: a script that runs where the agent worked, and how its end is read.

Covered: a reward file as Harbor's folders write it, an exit code, a log with a parser as SWE-bench
has them; habits of harnesses by which a loss may end without a score.
Not covered: graders that need a container's image, a network or several machines.
Sources: the task format of Harbor (tests/test.sh, /logs/verifier/reward.txt), `swebench.harness`
(log parsers, FAIL_TO_PASS and PASS_TO_PASS).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

_PRINTED = re.compile(r"^reward: (\S+)", re.MULTILINE)


class Reading(StrEnum):
    """The place where a grader's word is found."""

    REWARD_FILE = "reward_file"
    """/logs/verifier/reward.txt or reward.json."""
    EXIT_CODE = "exit_code"
    """0 is a pass."""
    PRINTED = "printed"
    """The first line `reward: N` of the output."""
    LOG = "log"
    """A parser makes statuses by test id of it."""


class EpisodeEnd(StrEnum):
    """The end of one episode under some grader."""

    PASSED = "passed"
    FAILED = "failed"
    UNSCORED = "unscored"
    """The harness gave up: no reward, and no loss either."""


@dataclass(frozen=True, slots=True)
class LogParser:
    """A function that makes {test id: status} of a log."""

    source: str
    """The module's text; it runs in the sandbox."""
    function: str


@dataclass(frozen=True, slots=True)
class ForeignGrader:
    """A grader that runs in the agent's workspace."""

    name: str
    script: str
    """For a login shell in the workspace, after the agent; the judge's tests stand in /tests."""
    reading: Reading
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Laid at /tests beside the task's own tests."""
    setup: str = ""
    """For a shell in the workspace, before the agent."""
    parser: LogParser | None = None
    """For `Reading.LOG`."""
    missing: EpisodeEnd = EpisodeEnd.FAILED
    """The end where the reward file is missing, the script ran out of time or the container was
    lost."""
    drops_cut: bool = False
    """True where an episode that never hands in is left out."""
    session_log: bool = False
    """True where the log that is read begins with the agent's own commands."""
    command_s: float = 10.0
    """Seconds of one command of the agent; 0 for no limit but the container's."""
    grader_s: float = 30.0
    """Seconds of the script."""
    workdir: str = "/workspace"
    """Absolute path by which scripts know the workspace."""
    container_s: float = 120.0
    """Seconds of the whole play."""

    def outcome(self, seen: Mapping[str, Any], *, submitted: bool) -> EpisodeEnd | None:
        """The end by what the container has seen; None where a parser has to be asked."""
        if not seen:
            return self.missing
        if self.drops_cut and not submitted:
            return EpisodeEnd.UNSCORED
        if seen["exit"] is None:
            return self.missing
        if self.reading is Reading.EXIT_CODE:
            return EpisodeEnd.PASSED if seen["exit"] == 0 else EpisodeEnd.FAILED
        if self.reading is Reading.LOG:
            return None
        said = seen.get("reward")
        if self.reading is Reading.PRINTED:
            found = _PRINTED.search(self.log_of(seen))
            said = found[1] if found else None
        reward = _reward_of(said)
        if reward is None:
            return self.missing
        return EpisodeEnd.PASSED if reward >= 1.0 else EpisodeEnd.FAILED

    def log_of(self, seen: Mapping[str, Any]) -> str:
        """The log that is read."""
        log = str(seen["log"])
        return f"{seen['agent_log']}\n{log}" if self.session_log else log


def resolved(statuses: Mapping[str, str], expected: tuple[str, ...]) -> EpisodeEnd:
    """SWE-bench's rule: every expected test is there, and PASSED or XFAIL."""
    done = all(statuses.get(name) in ("PASSED", "XFAIL") for name in expected)
    return EpisodeEnd.PASSED if done else EpisodeEnd.FAILED


def _reward_of(text: str | None) -> float | None:
    """The number of a reward file: a bare one, or the smallest of a JSON object's."""
    if text is None:
        return None
    try:
        value: Any = json.loads(text)
        if isinstance(value, dict):
            return min(float(one) for one in value.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return float(value)
    except (ValueError, TypeError):
        return None
