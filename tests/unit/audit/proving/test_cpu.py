"""CPU seconds are counted over the whole tree of processes, and end an audit's budget."""

from __future__ import annotations

import math
import subprocess
import sys
import time

from unhack.audit.proving.cpu import CpuAllowance, cpu_seconds
from unhack.audit.proving.prover import Budget

BURN = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_seconds_of_a_child_that_ended_count() -> None:
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert 0.25 <= cpu_seconds() - before < 3.0


def test_a_budget_whose_cpu_seconds_are_used_says_so() -> None:
    allowance = CpuAllowance(0.05)
    budget = Budget(100, math.inf, allowance)
    assert budget.spent == ""
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
    time.sleep(0.5)
    assert budget.spent == "the CPU seconds of the budget are used up"
