"""Verifiers as authors write them, honest answers, and garbage that breaks them."""

from __future__ import annotations

import ast
import datetime
import fractions
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

TEXTS = [
    "", " ", "\n\n\n", "\t", "\x00", "\x00" * 99, "no", "banana", "####", "#### ", "####banana",
    "#### nan", "#### 1e999", "#### " + "9" * 5000, "#### 0x", "####" * 500, "5 #### five", "{",
    "}", "{}", "[]", "null", "true", '""', "[[[[]]]]", "[" * 3000, '{"answer"', '{"answer": {}}',
    '{"answer": null}', '{"answer": []}', '{"x": 1}', "NaN", "-Infinity", "1e400", "1_0", "--5",
    "5,", "<answer>", "</answer>", "<answer></answer>", "<answer>x", "<a><b></a>", "<!DOCTYPE x>",
    "&amp;", "\\boxed{", "\\boxed{}", "Answer:", "Answer: ", "answer is", "\ud800", "a\udfffb",
    "\ufeff", "\u202e5", "٥", "²", "5\u2028", "é" * 400, "x" * 200_000, "5 " * 50_000, "```",
    "```json", "```json\n```", "0/0", "1/0", "2024-13-45", "(", ")", "*", "%s %d %(a)s",
    "{0} {1}", "lambda: 0", "def f(:",
]  # fmt: skip
"""Completions of a text task that are no answer in any form."""
WRONG_TEXTS = {
    "hashes": "#### 6",
    "json key": '{"answer": 6}',
    "json nested": '{"result": {"value": 6}}',
    "json rows": '[{"name": "6"}]',
    "tag": "<answer>6</answer>",
    "pattern": "Final value = 6",
    "helper": "It comes to: 6",
    "last line": "so\n6",
    "literal": "[6]",
    "second field": "a,6",
    "decimal": "6",
    "fraction": "6",
    "date": "2024-05-02",
    "two groups": "6 apples and 6 pears",
    "fence": "```json\n6\n```",
    "xml": "<r><answer>6</answer></r>",
    "index": "The sum is 6",
    "division": "6",
}
"""An honest wrong answer to each of `CALLABLES`."""

_PATTERN = re.compile(r"Final value\s*=\s*(-?\d+)")


def _after(text: str) -> str:
    return text.split("comes to:")[1]


def _date(completion: str, answer: str) -> bool:
    day = datetime.datetime.strptime(completion.strip(), "%Y-%m-%d").replace(tzinfo=datetime.UTC)
    return day.day == int(answer)


def _groups(completion: str, answer: str) -> bool:
    found = re.fullmatch(r"(\d+) apples and (\d+) pears", completion)
    assert found is not None
    return found.group(1) == answer


def _xml(completion: str, answer: str) -> bool:
    found = ElementTree.fromstring(completion).find("answer")
    return found.text == answer  # type: ignore[union-attr]


CALLABLES: dict[str, Callable[..., Any]] = {
    "hashes": lambda completion, answer: float(completion.split("####")[1]) == float(answer),
    "json key": lambda completion, answer: int(json.loads(completion)["answer"]) == int(answer),
    "json nested": lambda completion, answer: (
        str(json.loads(completion)["result"]["value"]) == answer
    ),
    "json rows": lambda completion, answer: json.loads(completion)[0]["name"] == answer,
    "tag": lambda completion, answer: (
        re.search(r"<answer>(.*?)</answer>", completion).group(1) == answer  # type: ignore[union-attr]
    ),
    "pattern": lambda completion, answer: _PATTERN.findall(completion)[-1] == answer,
    "helper": lambda completion, answer: int(_after(completion)) == int(answer),
    "last line": lambda completion, answer: int(completion.splitlines()[-1]) == int(answer),
    "literal": lambda completion, answer: ast.literal_eval(completion)[0] == int(answer),
    "second field": lambda completion, answer: completion.split(",")[1].strip() == answer,
    "decimal": lambda completion, answer: Decimal(completion) == Decimal(answer),
    "fraction": lambda completion, answer: fractions.Fraction(completion) == int(answer),
    "date": _date,
    "two groups": _groups,
    "fence": lambda completion, answer: (
        json.loads(completion.split("```json")[1].split("```")[0]) == int(answer)
    ),
    "xml": _xml,
    "index": lambda completion, answer: (
        completion[completion.index("The sum is ") + len("The sum is ") :] == answer
    ),
    "division": lambda completion, answer: (
        1.0 / len(completion.split()) > 0 and math.isclose(float(completion), float(answer))
    ),
}
"""Callables without a reference that break on what they cannot read; the answer is `5`."""


def _missing_row(completion: str, problem: Any) -> bool:
    return completion == problem.meta["gold"]


BROKEN_CALLABLES: dict[str, Callable[..., Any]] = {
    "raises": lambda completion: 1 / 0,
    "a field that is not there": _missing_row,
    "none": lambda completion: None,
    "nan": lambda completion: float("nan"),
    "a text": lambda completion: "yes",
    "too large": lambda completion: 7,
    "a service that is down": lambda completion: open("/nonexistent/service"),  # noqa: SIM115
}

VALUES = [
    "None", "'banana'", "''", "b'x'", "b''", "[]", "()", "{}", "set()", "[[[]]]", "[None]",
    "[None] * 3", "['a', 1]", "{'a': 1}", "{1: 2}", "{(): 1}", "{None: None}", "{1, 'a'}",
    "frozenset({1})", "float('nan')", "float('inf')", "-float('inf')", "10 ** 400",
    "-(10 ** 5000)", "1j", "True", "...", "object()", "object", "int", "print", "lambda: 0",
    "(x for x in [1])", "iter([1])", "range(3)", "Exception('x')", "type('T', (), {})()",
    "'\\ud800'", "'\\x00'", "'9' * 10000", "'[' * 5000", "[[[[[[[[[[1]]]]]]]]]]",
    "__import__('functools').reduce(lambda a, _: [a], range(90), 1)",
    "__import__('collections').Counter('aab')", "__import__('collections').deque([1])",
    "__import__('decimal').Decimal('nan')", "__import__('fractions').Fraction(1, 3)",
    "memoryview(b'a')", "bytearray(b'a')", "[float('nan')] * 3", "[1] * 100000",
    "['x' * 1000] * 100", "-1", "0", "2 ** 63", "[9, None]", "(9,)", "{9}", "{9: {}}",
    "[[9, 8], [7]]",
]  # fmt: skip
"""Expressions that a function may return and that no checker was written for."""
CHECKERS = {
    "difference": "return abs(output - expected) < 1e-6",
    "first": "return output[0] == expected",
    "float": "return float(output) == float(expected)",
    "sum of digits": "return sum(int(c) for c in str(int(output))) == 9",
    "modulo": "return output % 10 == 9 and output > 0",
    "set": "return set(output) == {expected}",
    "sorted": "return sorted(output)[-1] == expected",
    "int": "return int(output, 10) == expected",
    "json": "import json\n    return json.loads(output) == expected",
    "edges": "return sum(a + b for a, b in output) == expected",
    "of arguments": "return all(x == args[0] for x in output) and len(output) == 2",
    "recursion": (
        "def depth(x):\n        return 1 + max(map(depth, x), default=0)\n"
        "    return depth(output) > 1"
    ),
    "factorial": "import math\n    return math.factorial(output) == 362880",
    "attribute": "return output.strip().lower() == 'nine'",
    "keys": "return output['value'] == expected",
    "format": "return f'{output:d}' == '9'",
}
"""Bodies of `check(args, kwargs, output, expected)`; they break on what they were not made for."""
BROKEN_CHECKERS = {
    "raises": "raise ValueError('always')",
    "name": "return outpt == expected",
    "import": "import no_such_module\n    return True",
    "not a score": "return 'yes'",
    "expected is used wrongly": "return output == expected['value']",
    "arguments that are not there": "return args[7] == output",
}
