"""The judge's modes for text: regular expressions, and mathematical equivalence.

    regex           fullmatch of `pattern` with `text`      [null, "matched", bool]
    math_read       the completion's LaTeX as a tree        [null, "tree", JSON text]
                                                            [null, "unreadable", why]
    math_compare    that tree against the `gold` answer     [null, "gold"]
                                                            [null, "equal", bool, why]

`math_read` reads hostile text and never holds the gold answer; `math_compare` holds it and gets a
tree of plain data. `[null, "fault", why]` says that the judge could not judge: the pattern or the
gold answer is broken. `[null, "gold"]` is written before the tree is looked at: whatever ends the
job after it is the completion's doing.

Covered: parsing is the grammar of `latex2sympy2_extended`, which hands no text to `eval`; the
worker's limits end whatever runs long. math_verify's own alarms are off: a job is ended from
outside. sympy asks its assumptions in random order, and what it can show depends on it; each job
starts from one seed, so that the same answer always gets the same verdict.
Not covered: equality of expressions is undecidable; what `math_verify` cannot show equal is
unequal.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from typing import Any

from unhack.sandbox.guest.judge import math_equal, math_tree


def run_regex(job: dict[str, Any], channel: Any) -> int:
    """Mode `regex`."""
    try:
        pattern = re.compile(job["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        channel.send([None, "fault", f"the pattern does not compile: {error}"[:300]])
        return 0
    channel.send([None, "matched", pattern.fullmatch(job["text"]) is not None])
    return 0


def _parse(text: str) -> Any:
    """LaTeX to sympy, by the grammar alone; no part of the text is searched for an answer."""
    extended = importlib.import_module("latex2sympy2_extended")
    grader = importlib.import_module("math_verify.grader")
    config = extended.NormalizationConfig(
        basic_latex=True,
        units=False,
        malformed_operators=True,
        nits=True,
        boxed="none",
        equations=False,
    )
    normal = extended.normalize_latex(text, config)
    real = not grader.should_treat_as_complex(normal)
    return extended.latex2sympy(
        normal, is_real=real, convert_degrees=False, normalization_config=None
    )


def _same_order_for_all() -> None:
    importlib.import_module("sympy.core.random").seed(0)


def run_math_read(job: dict[str, Any], channel: Any) -> int:
    """Mode `math_read`."""
    _same_order_for_all()
    try:
        tree = math_tree.encode(_parse(job["text"]), percent=job["percent"])
        answer = ["tree", json.dumps(tree)]
    except Exception as error:
        answer = ["unreadable", _short(error)]
    channel.send([None, *answer])
    return 0


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def run_math_compare(job: dict[str, Any], channel: Any) -> int:
    """Mode `math_compare`."""
    _same_order_for_all()
    try:
        tree = math_tree.encode(_parse(job["gold"]), percent=job["percent"])
        gold = math_tree.decode(tree)
        must_be_evaluated = job["evaluated"] and math_tree.is_evaluated(gold)
    except Exception as error:
        channel.send([None, "fault", f"the gold answer cannot be read: {_short(error)}"])
        return 0
    channel.send([None, "gold"])
    channel.flush()
    try:
        claimed = json.loads(job["tree"])
        answer = math_tree.decode(claimed)
        if must_be_evaluated and not math_tree.is_evaluated(math_equal.last_link(gold, answer)):
            verdict = (False, "the answer is not in evaluated form")
        else:
            tolerance = (job["rel_tol"], job["abs_tol"])
            pair = map(math_tree.decode, math_tree.of_one_kind(tree, claimed))
            verdict = (math_equal.equal(*pair, tolerance=tolerance), "")
    except Exception as error:
        verdict = (False, f"it cannot be compared: {_short(error)}")
    channel.send([None, "equal", *verdict])
    return 0


MODES: dict[str, Callable[[dict[str, Any], Any], int]] = {
    "regex": run_regex,
    "math_read": run_math_read,
    "math_compare": run_math_compare,
}
"""The modes that `judge.modes` adds to the runner's."""


def warm_up() -> None:
    """Parse and compare once before any fork, so that no job builds the parser's tables itself.

    Does nothing where math_verify is not loaded.
    """
    if "math_verify" not in sys.modules:
        return
    for gold, answer in _SAMPLES:
        trees = [math_tree.encode(_parse(text), percent="fraction") for text in (gold, answer)]
        left, right = map(math_tree.decode, trees)
        math_tree.is_evaluated(left)
        math_equal.equal(left, right)


_SAMPLES = (
    (r"\frac{\sqrt{3}}{2} - \pi", r"\frac{\sqrt{5}}{2} + 2"),
    (r"2x^2 - \frac{1}{2}x + 1", r"2x(x + 1) + 3"),
    (r"x^2 + x", r"x(x + 1)"),
    (r"(1, 2]", r"[1, 2)"),
    (r"\{1, x\}", r"\{1, y, 2\}"),
    (r"x = \frac{1}{2}, y \le 3", r"x = 2, y \le 3"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\log_2 3 + \sin(x) + e^{2}", r"\ln 2 + \cos(x) + e"),
)
