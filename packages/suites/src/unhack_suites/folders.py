"""The folders of the task suites, one entry point each."""

from __future__ import annotations

from pathlib import Path

_TASKS = Path(__file__).parent / "tasks"

arrays = _TASKS / "arrays"
graphs = _TASKS / "graphs"
math = _TASKS / "math"
numbers = _TASKS / "numbers"
parsing = _TASKS / "parsing"
stdio = _TASKS / "stdio"
strings = _TASKS / "strings"
