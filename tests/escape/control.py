"""The positive control: runs one `control_safe` program without the seal.

A test that cannot fail detects nothing. Each program is run in a careless harness of the usual kind
(`control_harness.py`) whose parent (`control_host.py`) holds the answer, both inside throwaway
namespaces that `control_stage.py` makes, as an unprivileged uid, with limits and a hard timeout.

Covered: Linux as root or as a user who may make user namespaces.
Not covered: programs that are not `control_safe`; they are refused.
"""

from __future__ import annotations

import functools
import json
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus import Program, load_corpus

from unhack.sandbox.linux.processes import command_lines

HERE = Path(__file__).parent
TIMEOUT_S = 120
PATIENCE = 20
"""How many times longer than an attack an honest program may take: it ends by itself, and a busy
machine must not be taken for one that hangs."""
TOKEN_PREFIX = "unhack-token-"
SECRET_ENV = "UNHACK_CONTROL_SECRET"
INSIDE = ("control_host.py", "control_harness.py", "control_comparisons.py")
"""The files that the first process of the namespaces needs."""
C_FLAGS = ("-O1", "-w", "-pthread")


class ControlError(RuntimeError):
    """The control could not be run here; says nothing about the program."""


@dataclass(frozen=True, slots=True)
class ControlResult:
    """What came of one program in the careless harness."""

    won: bool
    attempts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """One entry per style tried: style, won, passed, output, alive, left."""

    @property
    def evidence(self) -> str:
        """The last attempt in one line."""
        last = self.attempts[-1] if self.attempts else {}
        keys = ("style", "passed", "alive", "output")
        return " ".join(f"{key}={last.get(key)!r}" for key in keys)


def make_token() -> str:
    """A fresh secret; programs know its form, never its value."""
    return TOKEN_PREFIX + secrets.token_hex(16)


def compile_native(program: Program, output: Path) -> None:
    """Compile a C program. Raises `ControlError` with the compiler's words."""
    command = ["cc", *C_FLAGS, "-o", str(output), str(program.path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise ControlError(f"{program.id} does not compile: {done.stderr[:500]}")


def run_control(program: Program) -> ControlResult:
    """Run `program` without the seal. Raises `ControlError` when that cannot be done."""
    if not program.control_safe:
        raise ControlError(f"{program.id} is not control_safe")
    source = None if program.is_native else program.completion()
    return run_unsealed(program, source=source, patience=1)


def run_unsealed(
    program: Program, *, source: str | None, patience: int = PATIENCE
) -> ControlResult:
    """Run `source` (or the compiled program) in the styles of `program`."""
    token = make_token()
    files = {name: str(HERE / name) for name in INSIDE}
    config: dict[str, Any] = {
        "token": token,
        "secret_env": SECRET_ENV,
        "win": program.win,
        "styles": program.styles,
        "native": program.is_native,
        "source": source,
        "expected": token if program.uses_token else program.expected,
        "patience": patience,
        "files": files,
    }
    if program.profile == "text" and source is not None:
        config["source"] = f"def solve(target):\n    return {source!r}\n"
    with tempfile.TemporaryDirectory(prefix="unhack-control-") as folder:
        if program.is_native:
            binary = Path(folder) / "program"
            compile_native(program, binary)
            files["program"] = str(binary)
        return _run_stage(config)


def _run_stage(config: dict[str, Any]) -> ControlResult:
    command = [sys.executable, "-I", str(HERE / "control_stage.py")]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(config),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ControlError("the control outlived its timeout") from None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        raise ControlError(f"the control failed ({done.returncode}): {done.stderr[-800:]}")
    found = json.loads(lines[-1])
    return ControlResult(found["won"], found["results"])


def count_candidates() -> int:
    """How many processes of this host run a part of the control (its namespaces are inside)."""
    parts = (b"control_stage.py", b"control_host.py")
    lines = [line.split(b"\0") for line in command_lines().values()]
    return sum(any(word.endswith(parts) for word in words) for words in lines)


@functools.cache
def why_unavailable() -> str:
    """Why this host cannot run the control; empty when it can."""
    try:
        probe = _run_stage(
            {
                "token": make_token(),
                "secret_env": SECRET_ENV,
                "win": "pass",
                "styles": ["local"],
                "native": False,
                "source": "def solve(target):\n    return 1\n",
                "expected": 1,
                "patience": PATIENCE,
                "files": {name: str(HERE / name) for name in INSIDE},
            }
        )
    except ControlError as error:
        return str(error)
    return "" if probe.won else f"the honest probe does not pass: {probe.evidence}"


def main() -> None:
    """`python control.py [PART OF A CLAIM]`: run the control and say what does not win."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    programs = [p for p in load_corpus() if p.control_safe and wanted in p.id]
    wins = 0
    for program in programs:
        result = run_control(program)
        wins += result.won
        if not result.won or wanted:
            print(f"{'won ' if result.won else 'lost'} {program.id}: {result.evidence[:300]}")
    print(f"{wins} of {len(programs)} attacks succeed without the seal")


if __name__ == "__main__":
    main()
