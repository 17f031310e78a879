"""Templates of task directories of every kind, sound from the start, to be changed.

new_task(Path("two-sum"), kind="function")
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from unhack.core.errors import TaskError, UnknownNameError, UsageError
from unhack.tasks.settings import TaskKind, TaskSettings


def _settings(
    kind: TaskKind,
    verifier: str,
    *,
    title: str = "The largest step",
    tag: str = "lists",
    entry: str = "",
) -> str:
    """A `task.toml`, whose id is still open."""
    return f"""\
id = "$id"
kind = "{kind}"
{entry}title = "{title}"
difficulty = "easy"
tags = ["{tag}"]

[verifier]
{verifier}
"""


_GENERATOR = '''\
"""Random lists, the empty one and the single number among them."""

import random


def generate(rng: random.Random) -> dict:
    return {"args": [[rng.randint(-20, 20) for _ in range(rng.randint(0, 8))]]}
'''
_STEPS = """\
def largest_step(numbers: list[int]) -> int:
    return max((abs(b - a) for a, b in zip(numbers, numbers[1:])), default=0)
"""
_STEPS_AGAIN = """\
def largest_step(numbers: list[int]) -> int:
    best = 0
    for place in range(1, len(numbers)):
        best = max(best, numbers[place] - numbers[place - 1], numbers[place - 1] - numbers[place])
    return best
"""
_WRONG_STEPS = {
    "wrong/only_upwards.py": """\
def largest_step(numbers: list[int]) -> int:
    return max((b - a for a, b in zip(numbers, numbers[1:])), default=0)
""",
    "wrong/not_only_neighbours.py": """\
def largest_step(numbers: list[int]) -> int:
    return max(numbers, default=0) - min(numbers, default=0)
""",
    "wrong/fails_on_short_lists.py": """\
def largest_step(numbers: list[int]) -> int:
    return max(abs(b - a) for a, b in zip(numbers, numbers[1:]))
""",
}
_FUNCTION_PROMPT = """\
# The largest step

Write a Python function `largest_step(numbers)`. `numbers` is a list of integers. It returns the
largest absolute difference between two neighbouring numbers, or 0 if there are fewer than two.

```
largest_step([3, 8, 1]) -> 7
largest_step([5]) -> 0
```
"""
_SOLUTIONS = {
    "reference.py": _STEPS,
    "right/loop.py": _STEPS_AGAIN,
    **_WRONG_STEPS,
}

_FUNCTION = {
    "task.toml": _settings(
        TaskKind.FUNCTION, 'compare = "exact"', entry='entry_point = "largest_step"\n'
    ),
    "prompt.md": _FUNCTION_PROMPT,
    "cases.jsonl": """\
{"args": [[3, 8, 1]], "expected": 7}
{"args": [[5]], "expected": 0}
{"args": [[]], "expected": 0}
{"args": [[9, 2, 4]], "expected": 7}
{"args": [[0, 4, 8]], "expected": 4}
{"args": [[2, 2, 2]], "expected": 0}
""",
    "generator.py": _GENERATOR,
    **_SOLUTIONS,
}

_STDIO = {
    "task.toml": _settings(TaskKind.STDIO, 'compare = "token"'),
    "prompt.md": """\
# The largest step

Write a Python program that reads integers from standard input, separated by white space, and prints
the largest absolute difference between two neighbouring ones, or 0 if there are fewer than two.

For the input `3 8 1` it prints `7`.
""",
    "cases.jsonl": r"""{"stdin": "3 8 1\n", "stdout": "7\n"}
{"stdin": "5\n", "stdout": "0\n"}
{"stdin": "", "stdout": "0\n"}
{"stdin": "9 2 4\n", "stdout": "7\n"}
{"stdin": "0\n4\n8\n", "stdout": "4\n"}
""",
    "generator.py": '''\
"""Random numbers, none and a single one among them."""

import random


def generate(rng: random.Random) -> dict:
    numbers = [rng.randint(-20, 20) for _ in range(rng.randint(0, 8))]
    return {"stdin": " ".join(map(str, numbers)) + "\\n"}
''',
    "reference.py": """\
import sys

numbers = [int(word) for word in sys.stdin.read().split()]
print(max((abs(b - a) for a, b in zip(numbers, numbers[1:])), default=0))
""",
    "right/loop.py": """\
import sys

best = 0
before = None
for word in sys.stdin.read().split():
    if before is not None:
        best = max(best, abs(int(word) - before))
    before = int(word)
print(best)
""",
    "wrong/only_upwards.py": """\
import sys

numbers = [int(word) for word in sys.stdin.read().split()]
print(max((b - a for a, b in zip(numbers, numbers[1:])), default=0))
""",
    "wrong/first_line_only.py": """\
numbers = [int(word) for word in input().split()]
print(max((abs(b - a) for a, b in zip(numbers, numbers[1:])), default=0))
""",
}

_TEXT = {
    "task.toml": _settings(
        TaskKind.TEXT, 'check = "numeric"', title="Apples in crates", tag="arithmetic"
    ),
    "cases.jsonl": r"""{"prompt": "There are 3 crates with 12 apples each; 5 apples are eaten. How many apples are left? Put the final answer in \\boxed{}.", "answer": "31"}
{"prompt": "There are 7 crates with 20 apples each; 0 apples are eaten. How many apples are left? Put the final answer in \\boxed{}.", "answer": "140"}
{"prompt": "There are 1 crates with 9 apples each; 9 apples are eaten. How many apples are left? Put the final answer in \\boxed{}.", "answer": "0"}
""",  # noqa: E501
    "generator.py": '''\
"""Random crates; no more is eaten than there is."""

import random


def generate(rng: random.Random) -> dict:
    crates, each = rng.randint(1, 20), rng.randint(2, 30)
    eaten = rng.randint(0, crates * each)
    prompt = (
        f"There are {crates} crates with {each} apples each; {eaten} apples are eaten. "
        "How many apples are left? Put the final answer in \\\\boxed{}."
    )
    return {"prompt": prompt, "answer": str(crates * each - eaten)}
''',
    "reference.py": """\
import re


def solve(prompt: str) -> str:
    crates, each, eaten = map(int, re.findall(r"\\d+", prompt))
    return f"There were {crates * each} apples. \\\\boxed{{{crates * each - eaten}}}"
""",
    "right/one_by_one.py": """\
import re


def solve(prompt: str) -> str:
    crates, each, eaten = map(int, re.findall(r"\\d+", prompt))
    left = sum(each for _ in range(crates)) - eaten
    return f"\\\\boxed{{{left}}}"
""",
    "wrong/nothing_eaten.py": """\
import re


def solve(prompt: str) -> str:
    crates, each, _ = map(int, re.findall(r"\\d+", prompt))
    return f"\\\\boxed{{{crates * each}}}"
""",
    "wrong/not_marked.py": """\
import re


def solve(prompt: str) -> str:
    crates, each, eaten = map(int, re.findall(r"\\d+", prompt))
    return str(crates * each - eaten)
""",
}

_SCRIPT = {
    "task.toml": _settings(TaskKind.SCRIPT, 'mode = "sealed"'),
    "prompt.md": _FUNCTION_PROMPT,
    "cases.jsonl": """\
{"numbers": [3, 8, 1], "expected": 7}
{"numbers": [5], "expected": 0}
{"numbers": [], "expected": 0}
{"numbers": [9, 2, 4], "expected": 7}
{"numbers": [0, 4, 8], "expected": 4}
""",
    "verifier.py": """\
import importlib.util
import json


def verify(solution_path: str, test_cases_path: str) -> dict:
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    solution = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(solution)
    with open(test_cases_path) as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        try:
            output = solution.largest_step(case["numbers"])
        except Exception as error:
            return {"score": 0.0, "reason": f"{case['numbers']}: raised {type(error).__name__}"}
        if type(output) is not int or output != case["expected"]:
            return {"score": 0.0, "reason": f"{case['numbers']}: wrong answer"}
    return {"score": 1.0}
""",
    **_SOLUTIONS,
}

_PYTEST = {
    "task.toml": _settings(
        TaskKind.PYTEST, 'solution_files = ["solution.py"]\npartial_credit = false'
    ),
    "prompt.md": _FUNCTION_PROMPT,
    "tests/test_solution.py": """\
import pytest
from solution import largest_step


@pytest.mark.parametrize(
    ("numbers", "expected"), [([3, 8, 1], 7), ([9, 2, 4], 7), ([0, 4, 8], 4), ([2, 2], 0)]
)
def test_the_largest_step_is_found(numbers, expected):
    assert largest_step(numbers) == expected


@pytest.mark.parametrize("numbers", [[], [5]])
def test_fewer_than_two_numbers_give_zero(numbers):
    assert largest_step(numbers) == 0
""",
    **_SOLUTIONS,
}

TEMPLATES: Mapping[TaskKind, Mapping[str, str]] = {
    TaskKind.FUNCTION: _FUNCTION,
    TaskKind.STDIO: _STDIO,
    TaskKind.TEXT: _TEXT,
    TaskKind.SCRIPT: _SCRIPT,
    TaskKind.PYTEST: _PYTEST,
}
"""File name -> content; `$id` in `task.toml` stands for the id."""


def new_task(path: Path, *, kind: str = "function", task_id: str | None = None) -> Path:
    """Write a starter task directory at `path` and return `path`.

    `task_id` is the directory's name unless given. Raises UnknownNameError for the kind, UsageError
    when the directory exists and is not empty, TaskError for an id with characters that ids lack.
    """
    try:
        files = TEMPLATES[TaskKind(kind)]
    except ValueError:
        raise UnknownNameError("kind", kind, valid=[item.value for item in TaskKind]) from None
    name = path.resolve().name if task_id is None else task_id
    try:
        TaskSettings(id=name, kind=TaskKind(kind))
    except ValueError:
        raise TaskError(
            f"{name!r} cannot be an id: use letters, digits, '-', '_', '.'; '/' between parts"
        ) from None
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise UsageError(f"{path} exists and is not an empty directory; choose another name")
    for file, content in files.items():
        place = path / file
        place.parent.mkdir(parents=True, exist_ok=True)
        text = Template(content).substitute(id=name) if file == "task.toml" else content
        place.write_text(text, encoding="utf-8")
    return path
