"""The client in a submission's process: `study(lab, targets)` is written as if runs were here.

`start` runs `study` in a thread of its own and returns its first request; `step` hands it the
answer and returns the next request, or ["done", answers]. The judge, on the other side, trains.

Covered: mistakes of a caller (another name, a number that is no setting) are raised where they are
made; several threads may ask, one after the other.
Not covered: security; this file runs in the submission's process and the judge believes nothing
that it says.
This file stands alone: it is copied beside `solution.py` and may be read in the workspace.
"""

from __future__ import annotations

import importlib
import math
import queue
import threading
from typing import Any

COUNTS = ("width", "depth", "steps", "batch", "again")
NAMES = (*COUNTS, "rate", "mix")


class RunRefusedError(Exception):
    """The service does not train this: it is outside the limits, or the budget does not pay."""


class FinishedRun:
    """A finished run: `settings`, `parameters`, `tokens`, `flops`, `loss` (inf: it diverged), and
    `curve`, a list of (tokens seen, training loss averaged since the point before)."""

    def __init__(self, settings: dict[str, Any], price: dict[str, Any], answer: Any) -> None:
        self.settings = settings
        self.parameters: int = price["parameters"]
        self.tokens: int = price["tokens"]
        self.flops: int = price["flops"]
        self.loss: float = answer["loss"]
        self.curve: list[tuple[int, float]] = [(at, loss) for at, loss in answer["curve"]]


class Lab:
    """The training service of one world.

    `budget` and `left` in FLOPs; `usual`, settings that `train` takes where you name no others;
    `limits`, lowest and highest value of each setting; `uniform`, the loss of knowing nothing.
    """

    def __init__(self, told: dict[str, Any], asked: queue.Queue[Any], answers: Any) -> None:
        self.budget: int = told["budget"]
        self.left: int = told["budget"]
        self.usual: dict[str, Any] = told["usual"]
        self.limits: dict[str, tuple[float, float]] = told["limits"]
        self.uniform: float = told["uniform"]
        self._asked, self._answers = asked, answers
        self._turn = threading.Lock()

    def price(self, **settings: Any) -> dict[str, int]:
        """`parameters`, `tokens` and `flops` of a run; costs nothing."""
        return self._ask("price", self._whole(settings))

    def train(self, **settings: Any) -> FinishedRun:
        """Train one run: `width`, `depth`, `steps`, `batch`, `rate`, `mix`, `again` (another number
        is another seed). Raises RunRefusedError; what is refused costs nothing."""
        whole = self._whole(settings)
        answer = self._ask("train", whole)
        self.left -= answer["flops"]
        return FinishedRun(whole, answer, answer)

    def _whole(self, settings: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(settings) - set(NAMES))
        if unknown:
            raise ValueError(f"no setting {', '.join(unknown)}; there are {', '.join(NAMES)}")
        found = {**self.usual, **settings}
        for name, value in found.items():
            number = int(value) if name in COUNTS else float(value)
            if not math.isfinite(number) or number != value or number < 0:
                raise ValueError(f"{name} is no setting: {value!r}")
            if number == 0 and name not in ("again", "mix"):
                raise ValueError(f"{name} is greater than 0")
            found[name] = number
        return found

    def _ask(self, verb: str, settings: dict[str, Any]) -> Any:
        with self._turn:
            self._asked.put([verb, settings])
            verdict, answer = self._answers.get()
        if verdict != "ok":
            raise RunRefusedError(answer)
        return answer


class _Dialogue:
    def __init__(self, told: dict[str, Any]) -> None:
        self.asked: queue.Queue[Any] = queue.Queue()
        self.answers: queue.Queue[Any] = queue.Queue()
        module: Any = importlib.import_module("solution")
        lab = Lab(told, self.asked, self.answers)
        work = threading.Thread(
            target=self._study, args=(module, lab, told["targets"]), daemon=True
        )
        work.start()

    def _study(self, module: Any, lab: Lab, targets: list[dict[str, Any]]) -> None:
        try:
            self.asked.put(["done", module.study(lab, targets)])
        except BaseException as error:
            self.asked.put(error)

    def next(self) -> Any:
        request = self.asked.get()
        if isinstance(request, BaseException):
            raise request
        return request


_CURRENT: list[_Dialogue] = []


def start(told: dict[str, Any]) -> Any:
    """Begin with a world; the first request."""
    _CURRENT[:] = [_Dialogue(told)]
    return _CURRENT[0].next()


def step(verdict: str, answer: Any) -> Any:
    """The answer to the last request; the next one."""
    _CURRENT[0].answers.put((verdict, answer))
    return _CURRENT[0].next()
