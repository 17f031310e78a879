"""The author's side of a measurement: `generator.py` and `measure.py` in a process of the judge.

    hello()                  proof that it started
    draw(seed, settings)     cases of `generator.draw`, kept here and shown to the judge
    begin(files, turn)       start `measure.measure`; the first step that it wants
    go_on(answer)            an answer of the submission; the next step
    last_step()              words for the last step, for one that could not cross

A step is ["call", name, args, kwargs, timeout_s], ["fresh"], ["done", value] or ["failed", class,
place, text, traceback]. The measure runs in a thread, which waits while the judge asks the
submission. It has no file that another process could read, and no way to the submission but steps.

Covered: a measure that raises, exits or answers what cannot cross.
Not covered: one that never returns; the judge's limits end it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import queue
import random
import sys
import threading
import traceback
from typing import Any

FOLDER, PACKAGES = "/contest", "/packages"
_MOST = 4000


class SealedRandom(random.Random):
    """A `random.Random` whose past cannot be worked out from what was drawn: SHA-256 over a
    counter. The generator of `random` itself is known whole after 624 numbers of it."""

    def __init__(self, seed: str) -> None:
        self._key = hashlib.sha256(seed.encode()).digest()
        self._count = 0
        super().__init__(0)

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Do nothing: the seed is the judge's."""

    def random(self) -> float:
        """A number from 0 up to 1, without 1."""
        return self.getrandbits(53) / (1 << 53)

    def getrandbits(self, k: int) -> int:
        """A number of `k` bits."""
        found = b""
        while len(found) * 8 < k:
            found += hashlib.sha256(self._key + self._count.to_bytes(8, "big")).digest()
            self._count += 1
        return int.from_bytes(found, "big") >> (len(found) * 8 - k)


class CallRefused(Exception):
    """The submission did not answer: it raised, was late, ended, or lacks the function."""


class AskedSubmission:
    """A submission as a measure sees it."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        """The files that were handed in: relative path -> content."""
        self.seconds = 0.0
        """Of the last call, by the judge's clock."""

    @property
    def size_bytes(self) -> int:
        """All files together."""
        return sum(map(len, self.files.values()))

    def call(self, name: str, *args: Any, timeout_s: float = 0.0, **kwargs: Any) -> Any:
        """Call a function of the submission, in its own process. Arguments and result: None, bool,
        int, float, str, bytes, list, tuple, dict, and arrays where the contest wants numpy.

        Raises CallRefused; a measure that does not catch it ends with that reason.
        """
        answer = _ask(["call", name, list(args), kwargs, float(timeout_s)])
        if answer[0] == "ok":
            self.seconds = answer[2]
            return answer[1]
        raise CallRefused(answer[1])

    def fresh(self) -> None:
        """End its process; the next call starts another one, which remembers nothing."""
        _ask(["fresh"])


_steps: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
_answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
_cases: list[Any] = []
_last: list[Any] = []


def hello() -> bool:
    """True."""
    return True


def draw(seed: str, settings: dict[str, Any]) -> Any:
    """The cases of one draw, or ["failed", ...]."""
    try:
        draw_cases = _function("generator", "draw", "(rng, settings)")
        cases: Any = draw_cases(SealedRandom(seed), dict(settings))
    except BaseException as error:
        return _failed(error, "generator.py")
    _cases[:] = cases if isinstance(cases, list) else []
    _last[:] = ["drawn", cases]
    return ["drawn", cases]


def begin(files: dict[str, bytes], turn: int) -> list[Any]:
    """Start the measure; where `turn` is not 0, with the sealed parts of the cases moved on by so
    many places: what crosses to the submission must not change by that."""
    cases = list(_cases)
    if turn:
        sealed = [case.get("sealed") for case in cases]
        cases = [
            {**case, "sealed": sealed[(place + turn) % len(sealed)]}
            for place, case in enumerate(cases)
        ]
    threading.Thread(target=_run, args=(AskedSubmission(files), cases), daemon=True).start()
    return _steps.get()


def go_on(answer: list[Any]) -> list[Any]:
    """The step after an answer."""
    _answers.put(answer)
    return _steps.get()


def last_step() -> str:
    """Words for what the judge was to be handed last."""
    match _last:
        case ["call", name, *_]:
            return f"an argument of submission.call({name!r})"
        case [_, value, *_]:
            return f"what it returned, a {type(value).__name__}"
        case _:
            return "what it returned"


def _run(submission: AskedSubmission, cases: list[Any]) -> None:
    try:
        measure = _function("measure", "measure", "(submission, cases)")
        found = measure(submission, cases)
        _hand(["done", found])
    except CallRefused as error:
        _hand(["refused", str(error)])
    except BaseException as error:
        _hand(_failed(error, "measure.py"))


def _function(module: str, name: str, arguments: str) -> Any:
    """A function that an author has to define. Raises what the module raises, AttributeError."""
    found = getattr(importlib.import_module(module), name, None)
    if not callable(found):
        raise AttributeError(f"{module}.py defines no {name}{arguments}")
    return found


def _hand(step: list[Any]) -> None:
    _last[:] = step
    _steps.put(step)


def _ask(step: list[Any]) -> Any:
    _hand(step)
    return _answers.get()


def _failed(error: BaseException, file: str) -> list[Any]:
    lines = traceback.extract_tb(error.__traceback__)
    own = [line for line in lines if line.filename.startswith(FOLDER + "/")]
    place = f"{own[-1].filename[len(FOLDER) + 1 :]}:{own[-1].lineno}" if own else file
    top = error.__traceback__
    while top is not None and not top.tb_frame.f_code.co_filename.startswith(FOLDER + "/"):
        top = top.tb_next  # frames of the harness tell an author nothing
    told = "".join(traceback.format_exception(type(error), error, top))[-_MOST:]
    return ["failed", type(error).__name__, place, str(error)[:_MOST], told]


def _prepare() -> None:
    for package in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{package}_NUM_THREADS"] = "1"  # read when a numerical library is loaded
    sys.dont_write_bytecode = True
    sys.path.insert(0, FOLDER)
    if os.path.isdir(PACKAGES):
        sys.path.append(PACKAGES)
    # for `from unhack_contest import CallRefused`
    sys.modules["unhack_contest"] = sys.modules[__name__]


_prepare()
