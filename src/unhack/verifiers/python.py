"""A callable of the user as a verifier.

    def verify(problem, completion): return problem.answer in completion.split()
    PythonVerifier(verify)

The callable's parameters are filled by name, any of `problem` (a `Problem`), `completion` (the
text), `answer` (`problem.answer`) and `prompt` (`problem.prompt`). It returns a bool, a number in
[0, 1] (1 passes) or a `Verdict`.

Whatever else it does is a fault of the verifier, not a score: an exception, NaN, an infinity, None,
a number outside [0, 1], an unscored verdict. After a fault the control decides: the problem's
reference, else texts with its answer in many forms, also those that the callable's own code
suggests (see `canaries`). If the callable judges that, the completion caused the fault and scores
0; else the item is unscored. So no completion gets out of its score by breaking the callable.

Covered: results are checked; the callable runs on a thread of its own, never on the pool's; every
verdict carries `Seal.HOST`.
Not covered: the callable sees untrusted text in the caller's process, with the caller's rights, and
has no time limit. It must not evaluate, import or unpickle that text. Several calls may run at once
on different threads. What it accepts wrongly is rewarded.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Verdict
from unhack.verifiers import canaries
from unhack.verifiers.base import HostCall, Steps, VerifierFault

_NAMES = ("problem", "completion", "answer", "prompt")
_CANARY = "0"


@dataclass(frozen=True)
class PythonVerifier:
    """Verifier of kind `python`.

    Raises UnknownNameError for a parameter with another name, UsageError for a callable that takes
    no completion or is a coroutine function.

    Example:

        PythonVerifier(lambda completion, answer: answer in completion.split())
    """

    kind = "python"
    function: Callable[..., float | bool | Verdict]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise UsageError(f"a {type(self.function).__name__} cannot be called as a verifier")
        if inspect.iscoroutinefunction(self.function):
            raise UsageError(f"{self._name} is a coroutine function; give a plain function")
        if "completion" not in [name for name, _ in self._parameters]:
            raise UsageError(
                f"{self._name} takes no parameter named completion; its parameters are filled by "
                f"name, any of {', '.join(_NAMES)}"
            )

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    @cached_property
    def _parameters(self) -> list[tuple[str, bool]]:
        """(name, whether it must be passed by keyword) of each parameter that is filled."""
        found: list[tuple[str, bool]] = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
                continue
            if name in _NAMES:
                found.append((name, parameter.kind is not parameter.POSITIONAL_ONLY))
            elif parameter.default is parameter.empty:
                raise UnknownNameError(f"parameter of {self._name}", name, valid=_NAMES)
        return found

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion by calling the function on a thread of the host."""
        values: dict[str, Any] = {
            "problem": problem,
            "completion": completion,
            "answer": problem.answer,
            "prompt": problem.prompt,
        }
        by_position = [values[name] for name, keyword in self._parameters if not keyword]
        by_name = {name: values[name] for name, keyword in self._parameters if keyword}
        result = yield HostCall(lambda: self.function(*by_position, **by_name))
        return self._read(result)

    def canary(self) -> str:
        """A short text that no sensible verifier fails to judge."""
        return _CANARY

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """The answer, in the usual forms and in those that the callable's own code suggests."""
        return canaries.texts(problem.answer, canaries.hints(self.function))

    def _read(self, result: Any) -> Verdict:
        """The verdict in what the callable returned. Raises VerifierFault."""
        if isinstance(result, Verdict):
            if not result.scored:
                raise VerifierFault(f"{self._name} returned an unscored verdict: {result.reason}")
            return replace(result, seal=Seal.HOST)
        score = _as_float(result)
        if score is None or not 0.0 <= score <= 1.0:
            shown = type(result).__name__ if score is None else repr(score)
            raise VerifierFault(
                f"{self._name} returned {shown}; it must return a bool, a number in [0, 1] or a "
                "Verdict; map another scale onto it, such as (x + 1) / 2 for -1 to 1"
            )
        passed = score == 1.0
        reason = "" if passed else f"{self._name} gave {score:.6g}"
        status = Status.PASSED if passed else Status.FAILED
        return Verdict(status, score, reason, seal=Seal.HOST)


def _as_float(result: Any) -> float | None:
    """A real number, or a numpy value that holds one, as a float; None for anything else."""
    if type(result).__module__ == "numpy" and getattr(result, "shape", None) == ():
        result = result.item()
    if not isinstance(result, Real):
        return None
    try:
        score = float(result)
    except (OverflowError, ValueError, TypeError):
        return None
    return None if math.isnan(score) else score
