"""Runs an evaluator in the agent's folder, in one process with the submission, and believes it.

Covered: whatever contest has an evaluator beside this file (`evaluate_NAME.py`).
Not covered: safety. It runs submissions without a sandbox; give it nothing but the corpus.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unhack.tournament.contest import Files

_HERE = Path(__file__).parent
_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the naive judge believes."""

    fitness: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Naive:
    """A judge of one contest that trusts its submissions."""

    contest: str

    def fitness(self, files: Files) -> Verdict:
        """The fitness that is believed; 0 with a reason where nothing was printed."""
        return told(files, script=f"evaluate_{self.contest}.py", environ={})


def told(files: Files, *, script: str, environ: Mapping[str, str]) -> Verdict:
    """The fitness in the last line of JSON that the evaluator's process printed."""
    try:
        return Verdict(float(printed(files, script=script, environ=environ)["fitness"]))
    except (KeyError, TypeError, ValueError) as error:
        return Verdict(0.0, f"no verdict: {error}")
    except subprocess.TimeoutExpired:
        return Verdict(0.0, "out of time")


def printed(files: Files, *, script: str, environ: Mapping[str, str]) -> dict[str, float]:
    """That line. Raises ValueError where there is none, TimeoutExpired."""
    folder = Path(tempfile.mkdtemp(prefix="naive-judge-"))
    try:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.replace(b"@FOLDER@", str(folder).encode()))
        shutil.copyfile(_HERE / script, folder / "_evaluate.py")
        search = [str(folder), *(path for path in sys.path if path)]
        plain = {
            "PATH": os.environ.get("PATH", ""), "HOME": str(folder), "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(search),
        }  # fmt: skip
        filled = {name: value.replace("@FOLDER@", str(folder)) for name, value in environ.items()}
        ran = subprocess.run(
            [sys.executable, "_evaluate.py"], cwd=folder, env={**plain, **filled},
            timeout=_LIMIT_S, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = [line for line in ran.stdout.split(b"\n") if line.strip().startswith(b"{")]
    if not lines:
        raise ValueError(f"exit code {ran.returncode}")
    return json.loads(lines[-1])
