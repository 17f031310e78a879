"""Problems for `audit_real.py`: our own texts, drawn with fixed seeds.

`ITEMS` holds lists of (prompt, answer); `ROWS` holds rows for what has a shape of its own. Numbers
of word problems are words, those of `maths` stand in formulas: who may repeat a formula instead of
working it out is rewarded for nothing.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

PROBLEMS = 12
"""Of every list."""
_SMALL = tuple(
    re.findall(
        r"\w+",
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen",
    )
)
_TENS = tuple(re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety"))
_NAMES = ("Mia", "Tom", "Ada", "Ben", "Ivo", "Lea")


def in_words(number: int) -> str:
    """A number from 0 to 9999 in words."""
    if number >= 1000:
        return f"{in_words(number // 1000)} thousand {_rest(number % 1000)}".strip()
    if number >= 100:
        return f"{in_words(number // 100)} hundred {_rest(number % 100)}".strip()
    if number >= 20:
        last = f"-{_SMALL[number % 10]}" if number % 10 else ""
        return _TENS[number // 10 - 2] + last
    return _SMALL[number]


def _rest(number: int) -> str:
    return f"and {in_words(number)}" if number else ""


def _integers(seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    found: dict[str, str] = {}
    for place in range(10 * PROBLEMS):
        name, year = draw.choice(_NAMES), draw.randint(1990, 2015)
        a, b, c = draw.randint(4, 19), draw.randint(3, 17), draw.randint(40, 99)
        text, answer = [
            (f"A baker fills {in_words(a)} trays with {in_words(b)} rolls each. "
             "How many rolls are there?", a * b),
            (f"{name}, born in {year}, has {in_words(c)} stamps and gives {in_words(b)} away. "
             "How many are left?", c - b),
            (f"A tank of {in_words(20 * c)} litres loses {in_words(10 * b)}. "
             "How many are left?", 20 * c - 10 * b),
            (f"A train has {in_words(b)} coaches with {in_words(c)} seats each, and "
             f"{in_words(a)} seats are broken. How many are whole?", b * c - a),
        ][place % 4]  # fmt: skip
        if str(answer) not in found.values():
            found[text] = str(answer)
        if len(found) == PROBLEMS:
            break
    return list(found.items())


def _maths(seed: int) -> list[tuple[str, str]]:
    """Whole numbers, fractions, negative numbers and roots in turn; most prompts hold a formula,
    as those of mathematical data sets do."""
    draw = random.Random(seed)
    found: list[tuple[str, str]] = []
    for place in range(10 * PROBLEMS):
        a, b = draw.randint(5, 19), draw.randint(21, 60)
        one, other = draw.sample(range(2, 9), 2)
        part = Fraction(1, one) + Fraction(1, other)
        root, factor = draw.choice((2, 3, 5, 6, 7)), draw.randint(2, 6)
        item = [
            (f"Work out ${a} \\cdot {b}$.", str(a * b)),
            (f"What is $\\frac{{1}}{{{one}}} + \\frac{{1}}{{{other}}}$?",
             f"\\frac{{{part.numerator}}}{{{part.denominator}}}"),
            (f"{in_words(b).capitalize()} more than a number makes {in_words(a)}. "
             "Which number is it?", str(a - b)),
            (f"Simplify $\\sqrt{{{root * factor * factor}}}$.",
             f"{factor}\\sqrt{{{root}}}"),
        ][place % 4]  # fmt: skip
        if item[1] not in [answer for _, answer in found]:
            found.append(item)
        if len(found) == PROBLEMS:
            break
    return found


def _figures() -> list[tuple[str, str]]:
    return [
        ("What is two minus seven?", "-5"),
        ("What is half of three?", "1.5"),
        ("A jug holds twelve and a half litres. How many litres does it hold?", "12.5"),
        ("How many minutes are in an hour?", "60"),
        ("How many degrees has a full turn?", "360"),
        ("What is a quarter of nine?", "2.25"),
        ("What is three minus eleven?", "-8"),
        ("How many grams are in four kilograms?", "4000"),
        ("What is ten minus ten and three quarters?", "-0.75"),
        ("How many days has a leap year?", "366"),
        ("What is a tenth of seven?", "0.7"),
        ("How many seconds are in six minutes and ten seconds?", "370"),
    ]


def _words() -> list[tuple[str, str]]:
    return [
        ("What is the capital of France?", "Paris"),
        ("Which planet is the closest to the Sun?", "Mercury"),
        ("Which metal has the symbol Fe?", "iron"),
        ("What is the capital of Norway?", "Oslo"),
        ("Which gas do plants take in from the air besides oxygen?", "carbon dioxide"),
        ("Which ocean lies between Africa and Australia?", "Indian Ocean"),
        ("Which organ pumps the blood?", "heart"),
        ("What is frozen water called?", "ice"),
        ("Which country has Lisbon as its capital?", "Portugal"),
        ("Which animal gives wool?", "sheep"),
        ("Which planet has the largest rings?", "Saturn"),
        ("Which river flows through Cairo?", "Nile"),
    ]


def _facts() -> list[tuple[str, str]]:
    number = ("Which number is as far below zero as one half is above it?", "-0.5")
    return [*_words()[:2], number, *_words()[3:]]


def _phrases() -> list[tuple[str, str]]:
    return [
        ("Who wrote the play Hamlet?", "William Shakespeare"),
        ("Which body of water lies between Europe and Africa?", "Mediterranean Sea"),
        ("Which city is called the Big Apple?", "New York City"),
        ("Who painted the ceiling of the Sistine Chapel?", "Michelangelo Buonarroti"),
        ("Which mountain is the highest on Earth?", "Mount Everest"),
        ("Which country lies south of Egypt?", "the Sudan"),
        ("Which canal joins the Atlantic and the Pacific?", "Panama Canal"),
        ("Who found the law of gravity?", "Isaac Newton"),
        ("Which desert covers the north of Africa?", "Sahara Desert"),
        ("Which island state has Wellington as its capital?", "New Zealand"),
        ("Who was the first person on the Moon?", "Neil Armstrong"),
        ("Which bridge spans the strait at San Francisco?", "Golden Gate Bridge"),
    ]


def _sentences() -> list[tuple[str, str]]:
    return [
        ("What happened in the final?", "Brazil beat Italy on penalties"),
        ("What happened at the junction?", "The red van hit a blue lorry"),
        ("Who follows whom in the story?", "The dog follows the old farmer"),
        ("What did the mayor announce?", "The old harbour will close in March"),
        ("Why was the train late?", "A fallen tree blocked the northern line"),
        ("What did the twins build?", "They built a raft from empty barrels"),
        ("Where did the letter turn up?", "It lay behind the kitchen clock"),
        ("What does the sign forbid?", "Nobody may swim near the weir"),
        ("Who won the prize for bread?", "A young baker from Leeds won it"),
        ("What grew in the ruined chapel?", "Wild roses grew over the altar"),
    ]


def _several() -> list[tuple[str, str]]:
    return [
        ("Name the three primary colours of paint.", "red, yellow, blue"),
        ("Name the two moons of Mars.", "Phobos, Deimos"),
        ("Name the four seasons, spring first.", "spring, summer, autumn, winter"),
        ("Name the two poles of a magnet.", "north, south"),
        ("Name the three states of water.", "ice, water, steam"),
        ("Name the two parents of a mule.", "horse, donkey"),
        ("Name the three countries of the Baltic.", "Estonia, Latvia, Lithuania"),
        ("Name the four suits of cards.", "hearts, diamonds, clubs, spades"),
    ]


_KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "a prime": (("7", "13", "23"), ("8", "9", "6", "15", "21", "25")),
    "a mammal": (("otter", "whale", "bat"), ("trout", "eagle", "viper", "newt", "wasp")),
    "a metal": (("iron", "zinc", "tin"), ("wood", "glass", "paper", "wool", "chalk")),
    "a river": (("Danube", "Rhine", "Volga"), ("Alps", "Oslo", "Baltic", "Malta", "Etna")),
}


def _choices(seed: int) -> list[tuple[str, str]]:
    """Every letter is right equally often."""
    draw = random.Random(seed)
    found: list[tuple[str, str]] = []
    letters = "ABCD" * (PROBLEMS // 4)
    for place, letter in enumerate(draw.sample(letters, len(letters))):
        kind = list(_KINDS)[place % len(_KINDS)]
        right, wrong = _KINDS[kind]
        options = draw.sample(wrong, 3)
        options.insert("ABCD".index(letter), right[place // len(_KINDS) % len(right)])
        listed = "\n".join(f"{mark}) {one}" for mark, one in zip("ABCD", options, strict=True))
        found.append((f"Which one is {kind}?\n{listed}", letter))
    return found


def _verdicts() -> list[tuple[str, str]]:
    ask = "Is the reply right? It says {} to {} plus {}. Say CORRECT or INCORRECT."
    pairs = [(n, n % 5 + 1) for n in range(2, 10)]
    return [(ask.format(*map(in_words, (a + b, a, b))), "CORRECT") for a, b in pairs]


ITEMS: dict[str, Sequence[tuple[str, str]]] = {
    "integers": _integers(1),
    "counts": _integers(2),
    "maths": _maths(3),
    "figures": _figures(),
    "words": _words(),
    "facts": _facts(),
    "phrases": _phrases(),
    "sentences": _sentences(),
    "several": _several(),
    "letters": _choices(4),
    "choices": _choices(5),
    "verdicts": _verdicts(),
}


# What has a shape of its own.

_FUNCTIONS: dict[str, tuple[str, str, Callable[[int, int], object]]] = {
    "double": ("gives twice n, whatever m is", "2 * n", lambda n, m: 2 * n),
    "larger": ("gives the larger one of n and m", "max(n, m)", max),
    "gap": ("gives how far n and m are apart", "abs(n - m)", lambda n, m: abs(n - m)),
    "same_sign": (
        "says whether both of n and m are above zero, or both are not",
        "(n > 0) == (m > 0)", lambda n, m: (n > 0) == (m > 0),
    ),
    "between": (
        "counts the whole numbers that lie strictly between n and m",
        "max(0, abs(n - m) - 1)", lambda n, m: max(0, abs(n - m) - 1),
    ),
    "digits_of": (
        "counts the digits of the product of n and m",
        "len(str(abs(n * m)))", lambda n, m: len(str(abs(n * m))),
    ),
    "average": ("gives the mean of n and m", "(n + m) / 2", lambda n, m: (n + m) / 2),
    "ordered": (
        "gives n and m as a list, the smaller one first", "sorted([n, m])",
        lambda n, m: sorted([n, m]),
    ),
}  # fmt: skip
_CASES = "class TestCases(unittest.TestCase):\n"
_INPUTS = ([3, 8], [-4, -9], [0, 5], [12, 7])


def _functions() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, (does, body, run) in _FUNCTIONS.items():
        results = [run(*one) for one in _INPUTS]
        cases = list(zip(_INPUTS, results, strict=True))
        checks = "".join(f"    assert f({a}, {b}) == {right!r}\n" for (a, b), right in cases)
        problem = {
            "task_id": f"x/{name}", "prompt": "", "entry_point": name,
            "test": f"def check(f):\n{checks}",
        }  # fmt: skip
        rows.append({
            "prompt": f"Write {name}(n, m), which {does}.",
            "answer": name,
            "entry_point": name,
            "correct": [f"def {name}(n, m):\n    return {body}\n"],
            "calls": [{"args": given, "expected": right} for given, right in cases],
            "dataset": "humaneval",
            "inputs": list(_INPUTS),
            "expected": results,
            "atol": 0,
            "ref_time": [0.1] * len(cases),
            "timeout": 5.0,
            "code": "",
            "test_code": f"import unittest\n{_CASES}{_methods(name, cases)}",
            "problem": problem,
            "ground_truth": problem,
        })  # fmt: skip
    return rows


def _methods(name: str, cases: Sequence[tuple[list[int], object]]) -> str:
    return "".join(
        f"    def test_{place}(self):\n        self.assertEqual({name}({a}, {b}), {right!r})\n"
        for place, ((a, b), right) in enumerate(cases)
    )


_STDIN: tuple[tuple[str, str, Callable[[list[int]], str]], ...] = (
    ("the sum", "print(sum(map(int, input().split())))", lambda n: str(sum(n))),
    ("the largest", "print(max(map(int, input().split())))", lambda n: str(max(n))),
    ("them in ascending order", "print(*sorted(map(int, input().split())))",
     lambda n: " ".join(map(str, sorted(n)))),
    ("them in reverse", "print(*input().split()[::-1])", lambda n: " ".join(map(str, n[::-1]))),
    ("how many are even", "print(sum(int(x) % 2 == 0 for x in input().split()))",
     lambda n: str(sum(x % 2 == 0 for x in n))),
    ("the first", "print(input().split()[0])", lambda n: str(n[0])),
    ("how many there are", "print(len(input().split()))", lambda n: str(len(n))),
    ("twice each of them", "print(*(2 * int(x) for x in input().split()))",
     lambda n: " ".join(str(2 * x) for x in n)),
)  # fmt: skip
_LINES = ([3, 1, 2], [9, 7, 8, 4], [-5, 6], [10, 10, 2, 31])


def _programs() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for what, code, run in _STDIN:
        given = [" ".join(map(str, line)) + "\n" for line in _LINES]
        right = [run(list(line)) + "\n" for line in _LINES]
        pairs = list(zip(given, right, strict=True))
        told = json.dumps({"inputs": given, "outputs": right})
        rows.append({
            "prompt": f"Read whole numbers from one line of stdin and print {what}.",
            "answer": what,
            "entry_point": "",
            "correct": [f"```python\n{code}\n```"],
            "calls": [{"args": [one], "expected": other} for one, other in pairs],
            "test_cases": told,
            "ground_truth": told,
            "tests": [
                {"input": one, "output": other, "testtype": "stdin", "metadata": {}}
                for one, other in pairs
            ],
        })  # fmt: skip
    return rows


def _sums() -> list[dict[str, Any]]:
    pairs = ((17, 25), (60, 3), (8, 91), (44, 11), (5, 7), (72, 19), (31, 36), (90, 99), (2, 27))
    ask = "Add x and y, which are {} and {}."
    return [
        {"prompt": ask.format(x, y), "answer": str(x + y), "x": x, "y": y, "correct": [str(x + y)]}
        for x, y in pairs
    ]


def _paragraphs() -> list[dict[str, Any]]:
    named = "flood bridge harvest fire strike storm election drought wedding parade"
    return [
        {
            "prompt": f"Which paragraph tells of the {what}?",
            "answer": f"Paragraph {number}",
            "correct": [f"Paragraph {number}"],
        }
        for what, number in zip(named.split(" "), (7, 12, 3, 21, 9, 15, 28, 5, 18, 30), strict=True)
    ]


def _nodes() -> list[dict[str, Any]]:
    reached = ("b2 c3", "d4", "e5 f6 g7", "h8 i9", "j1 k2", "l3", "m4 n5 p6", "q7 r8")
    return [
        {
            "prompt": f"Which nodes are reached from {start}1? Give them in a list.",
            "answer": f"[{', '.join(nodes.split())}]",
            "answer_nodes": nodes.split(),
            "correct": [f"They follow.\nFinal Answer: [{', '.join(nodes.split())}]"],
        }
        for start, nodes in zip("stuvwxyz", reached, strict=True)
    ]


def _keywords() -> list[dict[str, Any]]:
    pairs = "rose fence, lamp river, goat bell, copper sail, violin attic, lemon cellar"
    pairs += ", pepper wagon, marble owl"
    rows: list[dict[str, Any]] = []
    for key, pair in enumerate(pairs.split(", "), 1):
        words = pair.split()
        rows.append({
            "prompt": f"Write a line about what you saw. Use the words {' and '.join(words)}.",
            "answer": pair,
            "correct": [f"There was a {words[0]} beside the old {words[1]} that we passed."],
            "instruction_id": "keywords:existence",
            "keywords": words,
            "key": key,
            "instruction_id_list": ["keywords:existence"],
            "kwargs": [{"keywords": words}],
        })  # fmt: skip
    return rows


def _bullets() -> list[dict[str, Any]]:
    things = ["apple", "pear", "plum", "fig", "lime", "date", "kiwi", "mango"]
    return [
        {
            "prompt": f"List {in_words(count)} fruits as {in_words(count)} bullet points.",
            "answer": f"{in_words(count)} bullets",
            "correct": ["\n".join(f"* {one}" for one in things[:count])],
            "num_bullets": count,
            "key": count,
            "instruction_id_list": ["detectable_format:number_bullet_lists"],
            "kwargs": [{"num_bullets": count}],
        }
        for count in range(1, 9)
    ]


def _patches() -> list[dict[str, Any]]:
    """A completion is what the tests print once the patch is in."""
    parts = ("parser", "cache", "router", "signer", "pager", "clock", "mailer", "ledger")
    rows: list[dict[str, Any]] = []
    for number, part in enumerate(parts, 1):
        broken = f"tests/test_{part}.py::test_issue_{100 + 7 * number}"
        kept = [f"tests/test_{part}.py::test_{what}" for what in ("basic", "empty")]
        log = "\n".join(["collected 3 items", *(f"PASSED {one}" for one in (*kept, broken))])
        rows.append({
            "prompt": f"The {part} fails on empty input. The test for it is {broken}. Show the log "
            "of its tests with your patch.",
            "answer": log,
            "correct": [log],
            "ground_truth": {"FAIL_TO_PASS": [broken], "PASS_TO_PASS": kept},
        })  # fmt: skip
    return rows


def _games() -> list[dict[str, Any]]:
    """Countdown by indices: two numbers go, their result comes last."""
    draw = random.Random(6)
    rows: list[dict[str, Any]] = []
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (1, 0), (3, 2)]
    for one, other in pairs:
        numbers = draw.sample(range(3, 13), 4)
        # The product comes last, behind the two others; then their sum comes last.
        rest = sum(numbers) - numbers[one] - numbers[other]
        target = numbers[one] * numbers[other] + rest
        moves = f"[{one} {other} *]\n[0 1 +]\n[0 1 +]"
        listed = ", ".join(f"{place}: {number}" for place, number in enumerate(numbers))
        rows.append({
            "prompt": f"Combine the numbers ({listed}) to reach {target}. A move is [i j op] with "
            "indices and one of + - * /; its result becomes the last number. Give a move a line.",
            "answer": moves,
            "correct": [moves],
            "ground_truth": {"numbers": numbers, "target": target},
        })  # fmt: skip
    return rows


def _calls() -> list[dict[str, Any]]:
    towns = ("Oslo", "Lima", "Cairo", "Quito", "Accra", "Hanoi", "Riga", "Perth")
    rows: list[dict[str, Any]] = []
    for place, town in enumerate(towns):
        days = place + 2
        told = {"city": {"type": "string"}, "days": {"type": "integer"}}
        call = f"forecast(city='{town}', days={days})"
        rows.append({
            "prompt": f"How will the weather in {town} be for {in_words(days)} days? Call "
            "forecast(city, days).",
            "answer": call,
            "correct": [call],
            "function": {
                "name": "forecast",
                "parameters": {"properties": told, "required": ["city", "days"]},
            },
            "ground_truth": {"forecast": {"city": [town], "days": [days]}},
        })  # fmt: skip
    return rows


def _objects() -> list[dict[str, Any]]:
    people = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hope")
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(people):
        years = 21 + 4 * place
        text = json.dumps({"name": name, "age": years})
        ask = f"{name} is {in_words(years)} years old. Give an object with name and age."
        rows.append({"prompt": ask, "answer": text, "correct": [text]})
    return rows


ROWS: dict[str, list[dict[str, Any]]] = {
    "patch": _patches(),
    "game": _games(),
    "call": _calls(),
    "object": _objects(),
    "arithmetic": _sums(),
    "code": _programs(),
    "lcb": _programs(),
    "program": _functions(),
    "paragraph": _paragraphs(),
    "nodes": _nodes(),
    "keywords": _keywords(),
    "bullets": _bullets(),
}
