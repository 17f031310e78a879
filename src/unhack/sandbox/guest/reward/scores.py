"""The reader of a verifier's score, in a process in which a completion has run.

Every builtin is bound when the worker starts, before any completion does: one that replaces
`builtins.float` or `json.loads` may fool the verifier, but not this.

Covered: names replaced in `builtins` and `json`.
Not covered: a completion that looks for this module and changes it; such a verifier's scores are
forgeable whatever reads them.
"""

from __future__ import annotations

import json
from builtins import (  # noqa: UP029
    Exception,
    OverflowError,
    StopIteration,
    ValueError,
    bool,
    callable,
    dict,
    float,
    getattr,
    int,
    isinstance,
    len,
    list,
    reversed,
    str,
    tuple,
    type,
)
from collections.abc import Callable
from typing import Any, cast

from unhack.sandbox.guest.reward import stub_modules

_KEYS = (
    "score", "reward", "rewards", "scores", "overall", "acc", "accuracy", "exact_match",
    "is_correct", "correct", "passed", "success", "value", "result", "prompt_level_strict_acc",
    "pass@1", "base", "f1", "em", "rougeL", "rouge_l", "rouge1", "bleu",
)  # fmt: skip
_ATTRIBUTES = ("score", "reward", "value", "is_correct", "correct", "total", "passed")
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {
    **dict.fromkeys(("pass", "passed", "correct", "accepted", "success"), 1.0),
    **dict.fromkeys(("fail", "failed", "incorrect", "wrong", "error", "timeout", "timed out"), 0.0),
}
_scan: Callable[[str, int], tuple[Any, int]] = cast("Any", json.JSONDecoder()).scan_once


def read_score(value: Any) -> float | None:
    """A script's or checker's answer as a score in [0, 1]; None when it is not one."""
    if isinstance(value, dict):
        answer = cast("dict[str, Any]", value)
        value = answer.get("score", answer.get("passed"))
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float)) and 0.0 <= value <= 1.0:
        return float(value)
    return None


def encode_float(number: float) -> Any:
    """An exact float as tagged JSON (see `unhack.core.plain`)."""
    if number - number == 0.0:
        return number
    return {"$float": "inf" if number > 0 else "-inf" if number < 0 else "nan"}


def last_json(printed: str) -> Any:
    """The last line of output that is JSON: how scripts without `verify` answer."""
    for line in reversed(printed.strip().splitlines()):
        text = line.strip()
        try:
            value, end = _scan(text, 0)
        except (StopIteration, ValueError):
            continue
        if end == len(text):
            return value
    return None


def read_value(value: Any, depth: int = 0) -> tuple[str, float | None]:
    """(shape, number) of what a reward function returned; the number is None for what is none."""
    if depth > 4:
        return "nested too deeply", None
    if value is None:
        return "it returned None", None
    if isinstance(value, bool):
        return "bool", float(value)
    if isinstance(value, (int, float)):
        try:
            return "number", float(value)
        except OverflowError:
            return "number", float("inf") if value > 0 else float("-inf")
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, (list, tuple)):
        return _read_items(cast("Any", value), depth)
    if isinstance(value, dict):
        return _read_fields(cast("dict[Any, Any]", value), depth)
    return _read_object(value, depth)


def _read_text(value: str) -> tuple[str, float | None]:
    if value in _LETTERS:
        return "letter", _LETTERS[value]
    if value.lower() in _WORDS:
        return "word", _WORDS[value.lower()]
    try:
        return "text", float(value)
    except ValueError:
        return f"it returned the text {value[:80]!r}", None


def _read_items(value: Any, depth: int) -> tuple[str, float | None]:
    kind = type(value).__name__
    if not value or (kind == "list" and len(value) != 1):
        return f"it returned a {kind} of {len(value)} items for one completion", None
    first = value[0]
    if kind == "tuple":  # (what was extracted, score) and (details, score) exist too
        first = next((item for item in value if isinstance(item, (bool, int, float))), first)
    shape, number = read_value(first, depth + 1)
    return (f"{kind} of {shape}" if number is not None else shape), number


def _read_fields(value: dict[Any, Any], depth: int) -> tuple[str, float | None]:
    names = [name for name in _KEYS if name in value]
    if not names:
        names = [key for key, item in value.items() if isinstance(item, (bool, int, float))]
        names = names if len(names) == 1 else []
    for name in names:
        shape, number = read_value(value[name], depth + 1)
        if number is not None:
            return f"dict of {shape}", number
    return f"it returned a dict with the keys {list(value)[:8]!r:.120}", None


def _read_object(value: Any, depth: int) -> tuple[str, float | None]:
    if isinstance(value, stub_modules.Anything):
        return f"it returned {value!r}, which is missing here", None
    kind = type(value).__name__
    for name in _ATTRIBUTES:
        inner = getattr(value, name, None)
        if inner is not None and not callable(inner):
            shape, number = read_value(inner, depth + 1)
            if number is not None:
                return f"{kind} of {shape}", number
    for name in ("item", "tolist"):
        method = getattr(value, name, None)
        if callable(method):
            try:
                inner = method()
            except Exception:
                continue
            shape, number = read_value(inner, depth + 1)
            if number is not None:
                return f"{kind} of {shape}", number
    return f"it returned a {kind}: {value!r:.100}", None
