"""Verifier scripts that hold their calls in code: each with a right program, another right one, a
wrong one that it takes for right, and the line that makes it sound."""

from __future__ import annotations

from dataclasses import dataclass

LOAD = """
import importlib.util


def load(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""
RUN = """
import subprocess
import sys


def run(*words, given=""):
    done = subprocess.run(
        [sys.executable, *words], input=given, capture_output=True, text=True, timeout=10
    )
    return done.stdout
"""


@dataclass(frozen=True)
class Shape:
    """One verifier script; `{check}` in it is the weak check or the sound one."""

    name: str
    prompt: str
    verifier: str
    weak: str
    sound: str
    right: str
    other: str
    wrong: str


SHAPES = (
    Shape(
        "import",
        "Write `digits(n)`, the sum of the decimal digits of n.",
        LOAD
        + """
def verify(solution_path):
    digits = load(solution_path).digits
    for number in range(0, 400, 7):
        want = sum(map(int, str(number)))
        if not ({check}):
            return 0.0
    return 1.0
""",
        "digits(number) % 9 == number % 9",
        "digits(number) == want",
        "def digits(n):\n    return sum(int(d) for d in str(n))\n",
        "def digits(n):\n    total = 0\n    while n:\n        n, last = divmod(n, 10)\n"
        "        total += last\n    return total\n",
        "def digits(n):\n    return n\n",
    ),
    Shape(
        "exec",
        "Write `initials(name)`, the first letters of the words of a name, as capitals.",
        """
def verify(solution_path):
    space = {}
    with open(solution_path) as file:
        exec(file.read(), space)
    for name in ("ada lovelace", "alan mathison turing", "grace hopper", "x y"):
        got, want = space["initials"](name), "".join(w[0].upper() for w in name.split())
        if not ({check}):
            return {"score": 0.0}
    return {"score": 1.0}
""",
        "len(got) == len(want)",
        "got == want",
        "def initials(name):\n    return ''.join(word[0] for word in name.split()).upper()\n",
        "initials = lambda name: ''.join(map(lambda w: w[:1].upper(), name.split()))\n",
        "def initials(name):\n    return '?' * len(name.split())\n",
    ),
    Shape(
        "command",
        "Write solution.py with `clip(values, low, high)`: each value, kept within the bounds.",
        RUN
        + """
import os

CALLS = ("[5, -3, 12], 0, 10", "[1.5], 2, 3", "[], 0, 1", "[7, 7], 7, 7")


def verify(solution_path):
    os.chdir(os.path.dirname(solution_path))
    for call in CALLS:
        code = f"import solution; print(solution.clip({call}))"
        got = run("-c", code)
        values, low, high = eval(call)
        want = str([min(max(value, low), high) for value in values])
        if not ({check}):
            return 0.0
    return 1.0
""",
        "got.strip().startswith('[')",
        "got.strip() == want",
        "def clip(values, low, high):\n    return [min(max(v, low), high) for v in values]\n",
        "def clip(values, low, high):\n    return [sorted((low, v, high))[1] for v in values]\n",
        "def clip(values, low, high):\n    return [low for v in values]\n",
    ),
    Shape(
        "stdin",
        "Read whole numbers, one a line. Print their total.",
        RUN
        + """
def verify(solution_path):
    for numbers in ([1, 2, 3], [10], [4, 4, 4, 4], [-5, 5]):
        got = run(solution_path, given="".join(f"{n}\\n" for n in numbers))
        if not ({check}):
            return 0.0
    return 1.0
""",
        "got.strip().lstrip('-').isdigit()",
        "got.split() == [str(sum(numbers))]",
        "import sys\nprint(sum(map(int, sys.stdin)))\n",
        "total = 0\nwhile True:\n    try:\n        total += int(input())\n"
        "    except EOFError:\n        break\nprint(total)\n",
        "print(0)\n",
    ),
    Shape(
        "no_input",
        "Write a program that prints the primes below 30, in one line, with spaces.",
        RUN
        + """
def verify(solution_path):
    got = run(solution_path)
    want = "2 3 5 7 11 13 17 19 23 29"
    return {"score": 1.0 if {check} else 0.0}
""",
        "set(want.split()) <= set(got.split())",
        "got.split() == want.split()",
        "print(*[n for n in range(2, 30) if all(n % d for d in range(2, n))])\n",
        'if __name__ == "__main__":\n    print("2 3 5 7 11 13 17 19 23 29")\n',
        "print(*range(100))\n",
    ),
    Shape(
        "arguments",
        "Write a program that prints the product of the two whole numbers in its command line.",
        RUN
        + """
def verify(solution_path):
    for one, two in ((3, 4), (7, 0), (-2, 9)):
        got = run(solution_path, str(one), str(two))
        if not ({check}):
            return 0.0
    return 1.0
""",
        "got.strip()[-1:].isdigit()",
        "got.strip() == str(one * two)",
        "import sys\nprint(int(sys.argv[1]) * int(sys.argv[2]))\n",
        "import sys\n\n\ndef main(one, two):\n    print(one * two)\n\n\n"
        'if __name__ == "__main__":\n    main(*map(int, sys.argv[1:3]))\n',
        "import sys\nprint(sys.argv[1])\n",
    ),
    Shape(
        "class",
        "Write a class `Ring(size)`: `push(item)` drops the oldest of more than `size` items, "
        "`items()` gives them, the oldest first.",
        LOAD
        + """
def verify(solution_path):
    Ring = load(solution_path).Ring
    for size in (1, 2, 5):
        ring, kept = Ring(size), []
        for item in range(8):
            ring.push(item)
            kept = (kept + [item])[-size:]
            got = ring.items()
            if not ({check}):
                return {"score": 0.0}
    return {"score": 1.0}
""",
        "len(got) == len(kept)",
        "list(got) == kept",
        "class Ring:\n    def __init__(self, size):\n        self.size, self.kept = size, []\n\n"
        "    def push(self, item):\n        self.kept = (self.kept + [item])[-self.size:]\n\n"
        "    def items(self):\n        return list(self.kept)\n",
        "from collections import deque\n\n\nclass Ring:\n    def __init__(self, size):\n"
        "        self.kept = deque(maxlen=size)\n\n    def push(self, item):\n"
        "        self.kept.append(item)\n\n    def items(self):\n        return list(self.kept)\n",
        "class Ring:\n    def __init__(self, size):\n        self.size, self.kept = size, []\n\n"
        "    def push(self, item):\n        self.kept = (self.kept + [item])[:self.size]\n\n"
        "    def items(self):\n        return list(self.kept)\n",
    ),
    Shape(
        "drawn",
        "Write `smallest(values, k)`: the k smallest of some numbers, in ascending order.",
        LOAD
        + """
import random


def verify(solution_path):
    smallest, rng = load(solution_path).smallest, random.Random(5)
    for _ in range(25):
        values = [rng.randint(-50, 50) for _ in range(rng.randint(1, 9))]
        k = rng.randint(0, len(values))
        got = smallest(list(values), k)
        if not ({check}):
            return 0.0
    return 1.0
""",
        "len(got) == k and got == sorted(got)",
        "got == sorted(values)[:k]",
        "def smallest(values, k):\n    return sorted(values)[:k]\n",
        "import heapq\n\n\ndef smallest(values, k):\n    return heapq.nsmallest(k, values)\n",
        "def smallest(values, k):\n    return [0] * k\n",
    ),
    Shape(
        "pairs",
        "Write `middle(a, b)`: the whole number half-way between two, rounded down.",
        LOAD
        + """
PAIRS = [(2, 8), (3, 4), (10, 30), (-4, 4)]


def verify(solution_path):
    middle = load(solution_path).middle
    for a, b in PAIRS:
        got = middle(a, b)
        if not ({check}):
            return 0.0
    return 1.0
""",
        "min(a, b) <= got <= max(a, b)",
        "got == (a + b) // 2",
        "def middle(a, b):\n    return (a + b) // 2\n",
        "import math\n\n\ndef middle(a, b):\n    return math.floor((a + b) / 2)\n",
        "def middle(a, b):\n    return a\n",
    ),
    Shape(
        "pytest",
        "Write solution.py with `title(words)`: the words with capitals, joined by spaces.",
        RUN
        + '''
import os
from pathlib import Path

TESTS = """
from solution import title


def test_titles():
    for words in (["a", "tale"], ["one"], ["of", "two", "cities"]):
        got, want = title(words), " ".join(word.capitalize() for word in words)
        assert {check}
"""


def verify(solution_path):
    folder = Path(solution_path).parent
    (folder / "test_it.py").write_text(TESTS)
    os.chdir(folder)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return 1.0 if " passed" in run("-m", "pytest", "-q", "test_it.py") else 0.0
''',
        "got.lower() == want.lower()",
        "got == want",
        "def title(words):\n    return ' '.join(word.capitalize() for word in words)\n",
        "def title(words):\n    return ' '.join(words).title()\n",
        "def title(words):\n    return ' '.join(words)\n",
    ),
    Shape(
        "two_functions",
        "Write `pack(text)`, which codes runs (`aab` is `a2b1`), and `unpack(code)`, its inverse.",
        LOAD
        + """
def verify(solution_path):
    made = load(solution_path)
    for text, code in (("aab", "a2b1"), ("abc", "a1b1c1"), ("zzzz", "z4")):
        back = made.unpack(made.pack(text))
        if not ({check}):
            return 0.0
    return 1.0
""",
        "back == text",
        "back == text and made.pack(text) == code",
        "from itertools import groupby\n\n\ndef pack(text):\n"
        "    return ''.join(f'{k}{len(list(g))}' for k, g in groupby(text))\n\n\n"
        "def unpack(code):\n"
        "    return ''.join(a * int(b) for a, b in zip(code[::2], code[1::2]))\n",
        "import re\n\n\ndef pack(text):\n"
        "    runs = re.finditer(r'(.)\\1*', text)\n"
        "    return ''.join(run[1] + str(len(run[0])) for run in runs)\n\n\n"
        "def unpack(code):\n"
        "    return re.sub(r'(.)(\\d)', lambda m: m[1] * int(m[2]), code)\n",
        "def pack(text):\n    return text\n\n\ndef unpack(code):\n    return code\n",
    ),
    Shape(
        "in_process_program",
        "Read a line of words. Print the longest word.",
        """
import contextlib
import io
import runpy
import sys


def verify(solution_path):
    for line in ("a bcd ef", "word", "tiny enormous mid"):
        old, sys.stdin, printed = sys.stdin, io.StringIO(line + "\\n"), io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(solution_path, run_name="__main__")
        sys.stdin, got = old, printed.getvalue().strip()
        if not ({check}):
            return 0.0
    return 1.0
""",
        "got in line",
        "got == max(line.split(), key=len)",
        "print(max(input().split(), key=len))\n",
        "import sys\n\nwords = sys.stdin.read().split()\nprint(sorted(words, key=len)[-1])\n",
        "print(input()[0])\n",
    ),
)
