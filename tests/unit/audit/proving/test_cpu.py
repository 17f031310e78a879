"""CPU seconds are counted over the whole tree of processes, and end an audit's budget."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest

from unhack.audit.proving.cpu import CpuAllowance, cpu_seconds
from unhack.audit.proving.prover import Budget

pytestmark = pytest.mark.slow

BURN_S = 0.5
BURN = f"import time\nwhile time.process_time() < {BURN_S}: pass"


def test_the_seconds_of_a_child_that_ended_count() -> None:
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert 0.9 * BURN_S <= cpu_seconds() - before < 60 * BURN_S


def test_a_budget_whose_cpu_seconds_are_used_says_so() -> None:
    allowance = CpuAllowance(BURN_S)
    budget = Budget(100, math.inf, allowance)
    assert budget.spent == ""
    until = time.process_time() + 2 * BURN_S
    while time.process_time() < until:
        pass
    time.sleep(0.5)
    assert budget.spent == "the CPU budget is used up"
