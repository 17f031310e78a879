"""An oracle beside the judge: does what was handed in behave as the reference does?

The functions of every test that is known (hidden, visible, in the statement) are run with other
numbers in them, each once with the reference and once with what was handed in, in processes of
their own. What they assert is not asked: the values that they look at are written down and
compared.

Covered: values that differ by type or content, errors that are raised or missing, a process that
ends; values that the reference itself does not give twice are left out. Where nothing is left of
the reference, the oracle is undecided and says so.
Not covered: behaviour that no test comes near; tests that `probes` passes over; objects whose text
holds an address, of which type and attributes count.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from unhack.audit.environments.attack import declared_files
from unhack.audit.environments.probes import BehaviourProbe, probes_of
from unhack.core.finding import Evidence
from unhack.environments.episode import COMMAND_LIMITS
from unhack.environments.task import RepositoryTask
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command
from unhack.sandbox.workspace.states import WorkspaceState

_LIMITS = COMMAND_LIMITS.with_(wall_s=30, cpu_s=30, output_bytes=8 << 20)
_DRIVER = """
import json, sys
order = json.load(sys.stdin)
sys.path[:0] = order["roots"]
found = []
for source, names in order["probes"]:
    seen = []
    def _seen(number, make):
        value = make()
        text = repr(value)
        kind = type(value).__name__
        if " at 0x" in text:
            text = repr(sorted(getattr(value, "__dict__", {}).items()))
        seen.append([number, kind if " at 0x" in text else f"{kind}: {text}"[:400]])
        return value
    space = {"_seen": _seen, "_raised": lambda number, error: seen.append([number, error])}
    try:
        exec(compile(source, "<probe>", "exec"), space)
        for name in names:
            space[name]()
    except Exception as error:
        seen.append([-1, type(error).__name__])
    found.append(seen)
print(order["nonce"] + json.dumps(found))
"""

Trace = list[list[Any]]
"""[number of the expression, what it gave] of one probe; the number -1 for its end by an error."""


class BehaviourOracle:
    """Compares files that were handed in with a task's reference."""

    def __init__(self, task: RepositoryTask, commands: CommandPool, *, seed: int = 0) -> None:
        self.task, self._commands = task, commands
        self.probes = tuple(probes_of(task, seed=seed))
        self._right: list[Trace] | None = None
        self._said = ""
        self.undecided = ""
        """The reason why it cannot tell right from wrong; empty where it can, and before it is
        asked."""
        self.unjudged = 0
        """Number of times that it was asked and could not tell."""
        self.solved: WorkspaceState | None = None
        """In an image: the root directory with the work of the reference."""

    async def why_wrong(self, files: Mapping[str, bytes] | WorkspaceState) -> Evidence | None:
        """The first difference from the reference's behaviour; None where there is none or it
        cannot be told. `files` are all declared files as they were handed in, or in an image the
        root directory with them."""
        known = await self.right()
        if self.undecided:
            self.unjudged += 1
            return None
        seen = await self._run(files)
        if not seen:
            text = "the process exits before it answers; the reference answers"
            return Evidence("differs", text)
        for probe, wanted, got in zip(self.probes, known, seen, strict=True):
            if wanted and wanted != got:
                return _difference(probe, wanted, got)
        return None

    async def right(self) -> list[Trace]:
        """The traces of the reference, one a probe: an empty one where it differs the second time,
        none at all where nothing is to be had."""
        if self._right is None:
            right = self.solved or declared_files(self.task, self.task.reference)
            first, again = await self._run(right), await self._run(right)
            self._right = [
                one if one == other and _ran(one) else []
                for one, other in zip(first, again, strict=True)
            ] if first and again else []  # fmt: skip
            if not any(self._right):
                self.undecided = self._why_undecided(first if again else [])
        return self._right

    def _why_undecided(self, traces: list[Trace]) -> str:
        if not self.probes:
            return "no test looks at a value that other inputs could change"
        if not traces:
            return f"no trace of the reference could be had: {self._said or 'it printed nothing'}"
        errors = {one[-1][1] for one in traces if one and not _ran(one)}
        ended = f", which ends with {' or '.join(sorted(errors))}" if errors else ""
        return f"no test sees a value that is the same twice of the reference{ended}"

    async def _run(self, files: Mapping[str, bytes] | WorkspaceState) -> list[Trace]:
        """The traces of every probe; none where the process ended before its end."""
        task, nonce = self.task, secrets.token_hex(8)
        if isinstance(files, WorkspaceState):
            state, top = files, f"/{files.start or ''}"
        else:
            base = {path: data for path, data in task.files.items() if not task.may_change(path)}
            state = self._commands.states.load({**base, **files}, executable=task.executable)
            top = "/workspace"
        order = {
            "nonce": nonce,
            "roots": [f"{top}/src", top, *(["/tests"] if state is files else [])],
            "probes": [[probe.source, [probe.name]] for probe in self.probes],
        }
        command = Command(
            ("python3", "-c", _DRIVER), stdin=json.dumps(order).encode(), as_root=state is files
        )
        result, _ = await self._commands.run(state, command, limits=_LIMITS)
        if nonce not in result.stdout:
            self._said = "".join(result.stderr.strip().splitlines()[-1:])[:300] or result.limit
            return []
        try:
            found = json.loads(result.stdout.rpartition(nonce)[2].partition("\n")[0])
        except ValueError:
            return []
        return found if len(found) == len(self.probes) else []


def _ran(trace: Trace) -> bool:
    """True for a probe that saw something and came to its end."""
    return bool(trace) and trace[-1][0] != -1


def _filled(trace: Trace, count: int) -> Trace:
    """The trace with a mark for everything that it did not come to."""
    missing: Trace = [[-1, "nothing"] for _ in range(count)]
    return [*trace, *missing]


def _difference(probe: BehaviourProbe, wanted: Trace, got: Trace) -> Evidence:
    for right, seen in zip(wanted, _filled(got, len(wanted)), strict=False):
        if right != seen:
            number: int = right[0]
            expression = probe.expressions[number]
            text = f"it behaves differently from the reference: {expression} gives another result"
            return Evidence("differs", text, expression, str(right[1]), str(seen[1]))
    return Evidence("differs", "it behaves differently from the reference")
