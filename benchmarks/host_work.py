"""CPU time of the host for each byte of hostile values and texts.

    python benchmarks/host_work.py [--rounds 3]

A value crosses as tagged JSON, is read, compared in every way with itself and with one that differs
at its end, and shown. Of a text the code, the final answer and the value after it are looked for.
Each shape is measured at 10, 100 and 1,000 kB in one run, sizes in turn: work that grows faster
than the input shows as a rising row, on a busy host too. Printed are the shapes that cost most.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

from unhack.core import plain
from unhack.core.completion import extract_code
from unhack.verifiers.answers.final_answer import Marker, marked_answers, without_reasoning
from unhack.verifiers.values.compare import Compare, matches
from unhack.verifiers.values.shown import value_text

SIZES = (10_000, 100_000, 1_000_000)
_PRIME = (1 << 61) - 1
_LONG = '{"$int":"0x7' + "3" * 8000 + '"}'


def _many(item: Callable[[int], str], wrap: str) -> Callable[[int, str], str]:
    def make(size: int, last: str) -> str:
        parts: list[str] = []
        while size > 0:
            parts.append(item(len(parts)))
            size -= len(parts[-1]) + 1
        return wrap % ",".join([*parts, last])

    return make


def _deep(start: str, end: str, depth: int) -> Callable[[int, str], str]:
    one = start * depth + "1" + end * depth
    return _many(lambda at: one, "[%s]")


def _one(wrap: str, unit: str) -> Callable[[int, str], str]:
    return lambda size, last: f"[{wrap % (unit * (size // len(unit)))},{last}]"


VALUES: dict[str, Callable[[int, str], str]] = {
    "small integers": _many(str, "[%s]"),
    "integers of one hash": _many(lambda at: str(at * _PRIME), "[%s]"),
    "a set of integers of one hash": _many(lambda at: str(at * _PRIME), '[{"$set":[%s]}]'),
    "a set of integers of the same low bits": _many(lambda at: str(at << 40), '[{"$set":[%s]}]'),
    "a set of integers": _many(str, '{"$set":[%s]}'),
    "keys that are integers": _many(lambda at: f"[{at},{at}]", '{"$dict":[%s]}'),
    "keys of one hash": _many(lambda at: f"[{at * _PRIME},1]", '{"$dict":[%s]}'),
    "keys that are floats": _many(lambda at: f"[{at}.5,1]", '{"$dict":[%s]}'),
    "keys that are tuples": _many(lambda at: f'[{{"$tuple":[{at},1]}},1]', '{"$dict":[%s]}'),
    "keys that are texts": _many(lambda at: f'["k{at}",1]', '{"$dict":[%s]}'),
    "floats": _many(lambda at: f"{at}.25", "[%s]"),
    "long fractions of floats": _many(lambda at: "0." + "123456789" * 20, "[%s]"),
    "numbers that are no floats": _many(lambda at: '{"$float":"nan"}', "[%s]"),
    "complex numbers": _many(lambda at: f'{{"$complex":[{at}.5,0.5]}}', "[%s]"),
    "empty lists": _many(lambda at: "[]", "[%s]"),
    "empty tuples": _many(lambda at: '{"$tuple":[]}', "[%s]"),
    "objects": _many(lambda at: '{"a":1}', "[%s]"),
    "lists in lists": _deep("[", "]", 90),
    "tuples in tuples": _deep('{"$tuple":[', "]}", 45),
    "frozen sets in frozen sets": _deep('{"$frozenset":[', "]}", 45),
    "subclasses of subclasses": _deep('{"$as":["a.B",', "]}", 45),
    "texts that begin alike": _many(lambda at: f'"{"a" * 500}{at}"', "[%s]"),
    "one long text": _one('"%s"', "a"),
    "one text of odd letters": _one('"%s"', "\\u0301"),
    "one long integer": _one('{"$int":"0x%s"}', "f"),
    "long integers": _many(lambda at: '{"$int":"0x' + "f" * 5000 + '"}', "[%s]"),
    "bytes": _one('{"$bytes":"%s"}', "AAAA"),
    "decimals": _many(lambda at: f'{{"$std":["decimal.Decimal","{at}.5"]}}', "[%s]"),
    "long decimals": _many(lambda at: '{"$std":["decimal.Decimal","' + "7" * 9000 + '"]}', "[%s]"),
    "decimals of large exponents": _many(
        lambda at: '{"$std":["decimal.Decimal","1E+999999"]}', "[%s]"
    ),
    "fractions": _many(lambda at: f'{{"$std":["fractions.Fraction",[{at},7]]}}', "[%s]"),
    "long fractions": _many(
        lambda at: '{"$std":["fractions.Fraction",[%s,%s]]}'.replace("%s", _LONG), "[%s]"
    ),
    "ranges": _many(lambda at: '{"$std":["range",[0,99999999999,1]]}', "[%s]"),
    "counters": _many(lambda at: f"[{at},1]", '{"$std":["collections.Counter",{"$dict":[%s]}]}'),
    "views of keys": _many(str, '{"$std":["dict_keys",[%s]]}'),
    "an array": _many(lambda at: "1", '{"$std":["array.array",["q",[%s]]]}'),
    "moments": _many(
        lambda at: '{"$std":["datetime.datetime",[1,1,1,1,1,1,1,0,[[0,60,0]]]]}', "[%s]"
    ),
    "values that are no data": _many(lambda at: '{"$opaque":"a.B"}', "[%s]"),
}
TEXTS = {
    "words": "then we ", "lines": "a\n", "boxes": "\\boxed{1} ", "open boxes": "\\boxed{",
    "boxes with gaps": "\\boxed \\boxed{", "braces": "{", "closing braces": "}",
    "backslashes": "\\", "closed boxes": "\\boxed{}", "hashes": "#### 1\n", "blank lines": "\n",
    "tags": "<answer>", "closing tags": "</answer>", "tags in pairs": "<answer></answer>",
    "phrases": "the answer is ", "headings": "answer:\n", "the word alone": "answer ",
    "thoughts": "<think>", "thoughts that end": "</think>", "asterisks": "*", "stops": ".",
    "fences": "```python\nx = 1\n```\n", "open fences": "```python\n", "imports": "import a\n",
    "signatures": "def f(a, ", "quotes": "' \" ", "brackets": "([{", "blanks": " ",
}  # fmt: skip


def _of_value(text: str, other: str) -> None:
    try:
        value, wanted = plain.loads(text), plain.loads(other)
    except plain.PlainDataError:
        return
    for compare in Compare:
        for expected in (plain.loads(text), wanted):
            matches(value, expected, compare=compare)
    value_text(value)


def _of_text(text: str) -> None:
    extract_code(text)
    marked_answers(without_reasoning(text), list(Marker))


def _cost(work: Callable[[], None], size: int) -> float:
    """Nanoseconds of CPU for each byte."""
    start = time.process_time_ns()
    work()
    return (time.process_time_ns() - start) / size


def _value_work(shape: str, size: int) -> Callable[[], float]:
    text, other = (VALUES[shape](size, last) for last in ("1", "2"))
    json.loads(text)  # a shape that is no JSON measures nothing
    return lambda: _cost(lambda: _of_value(text, other), len(text))


def _text_work(shape: str, size: int) -> Callable[[], float]:
    text = TEXTS[shape] * (size // len(TEXTS[shape]))
    return lambda: _cost(lambda: _of_text(text), len(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    for title, shapes, work in (("value", VALUES, _value_work), ("text", TEXTS, _text_work)):
        rows: list[tuple[list[float], str]] = []
        for shape in shapes:
            costs = [work(shape, size) for size in SIZES]
            found = [[cost() for cost in costs] for _ in range(rounds)]
            rows.append(([statistics.median(column) for column in zip(*found, strict=True)], shape))
        rows.sort(key=lambda row: -row[0][-1])
        print(f"\nns of CPU a byte, {len(rows)} shapes of a {title}; medians of {rounds} rounds")
        print(f"{'shape':40}" + "".join(f"{size // 1000:>9} kB" for size in SIZES))
        for row, shape in rows:
            print(f"{shape:40}" + "".join(f"{cost:12.0f}" for cost in row))


if __name__ == "__main__":
    main()
