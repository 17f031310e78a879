"""Follow one completion, finding, submission or rollout through the code.

    python tests/docs/walks.py NAME

prints the files of the package in the order in which their functions are first called.
Covered: this process, all its threads. Not covered: what runs inside the sandbox.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType

import unhack

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = f"{os.path.dirname(unhack.__file__)}/"


class FirstCalls:
    """The files in which a function was called, in the order of first calls."""

    def __init__(self) -> None:
        self.order: list[str] = []
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(PACKAGE) and frame.f_code.co_name != "<module>":
            name = path[len(PACKAGE) :]
            if name not in self.order:
                self.order.append(name)

    def end(self) -> list[str]:
        """Stop listening; what was heard."""
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        return self.order


def completion(folder: Path) -> list[str]:
    """One completion of a built-in task, on a pool that is there already."""
    from unhack import find_tasks, run_batch
    from unhack.sandbox.pool.pool import Pool

    del folder
    [task] = find_tasks("strings/knit-rows")
    calls = FirstCalls()
    with closing(Pool(slots=1)) as pool:
        calls.order.clear()
        run_batch(task, ["def f(): return 1"], backend=pool)
        return calls.end()


def finding(folder: Path) -> list[str]:
    """One finding of an audit of a substring check."""
    from unhack.audit.options import AuditOptions
    from unhack.audit.runner import audit
    from unhack.audit.subjects.loading import load_subject

    source = "def reward(completion, answer):\n    return 1.0 if answer in completion else 0.0\n"
    (folder / "rewards.py").write_text(source)
    row = {"prompt": "What is 17 plus 25?", "answer": "42", "correct": ["The answer is 42"]}
    (folder / "rows.jsonl").write_text(f"{json.dumps(row)}\n")
    calls = FirstCalls()
    subject = load_subject(f"{folder / 'rewards.py'}:reward", problems=folder / "rows.jsonl")
    report = audit(subject, options=AuditOptions(tiers=(1,), seconds=300.0))
    assert report.findings, report.why
    return calls.end()


def submission(folder: Path) -> list[str]:
    """One submission to the toy contest."""
    sys.path.insert(0, str(ROOT))
    from tests.unit.tournament.hill import plan, played

    calls = FirstCalls()
    played(folder / "run", plan("baseline:near", rounds=1), jobs=1)
    return calls.end()


def rollout(folder: Path) -> list[str]:
    """One training step of a small model that knows nothing, in the world `programs`."""
    import torch

    from unhack.models.config import Config
    from unhack.models.qwen3 import Qwen3
    from unhack.training.config.settings import Settings
    from unhack.training.loop.train import train
    from unhack.training.policy import policy
    from unhack.training.worlds.programs.vocabulary import FRAGMENTS

    def untrained(*_: object) -> Qwen3:
        shape = {"hidden": 16, "layers": 1, "heads": 2, "kv_heads": 2, "head_dim": 8, "ffn": 32}
        return Qwen3(Config(vocab=len(FRAGMENTS), **shape))

    torch.set_num_threads(1)
    policy.base_model = untrained
    settings = Settings.model_validate(
        {
            "adapter": {"rank": 4},
            "gate": {"kind": "cosine"},
            "rollouts": {"prompts": 4, "group": 4},
            "world": {"pairs_per_mode": 2, "cache": str(folder / "cache.sqlite")},
            "run": {"steps": 1, "checkpoint_every": 1, "monitor_every": 0},
        }
    )
    calls = FirstCalls()
    train(settings, folder / "run")
    return calls.end()


WALKS: dict[str, Callable[[Path], list[str]]] = {
    "completion": completion,
    "finding": finding,
    "submission": submission,
    "rollout": rollout,
}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print("\n".join(WALKS[sys.argv[1]](Path(scratch))))
