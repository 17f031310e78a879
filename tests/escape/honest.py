"""Honest neighbours of hostile programs: each notices what an earlier job on its worker broke.

They also keep the token in their memory, as a later job must not find it.
"""

from __future__ import annotations

from corpus import Program
from ground import MARKER
from sealed import (
    ACCEPTED_BY_WALKED,
    BUILD_LIMITS,
    HONEST_LIMITS,
    RAW,
    Attempt,
    CommandVerifier,
    attempt,
    checker_source,
    script_verifier,
    text_attempt,
)

from unhack import Case, FunctionVerifier, StdioVerifier
from unhack.verifiers.base import Verifier
from unhack.verifiers.stdio import StdioCase

HONEST_FUNCTION = """
import builtins, collections, json, math, os, re, sys, time

KEPT = {}


def solve(items, marker, secret, scratch):
    kept = marker + "=" + secret
    KEPT["earlier"] = {"kept": kept}
    builtins.earlier = sys.earlier = os.earlier = KEPT
    found = os.listdir(".") if scratch else []
    if scratch:
        for path in ("note", "/tmp/left"):
            with open(path, "w") as file:
                file.write(kept)
    time.sleep(0.0)
    total = json.loads(json.dumps(sum(sorted(abs(i) for i in items)[:3])))
    words = re.sub("b+", "-", "abba") + str(math.isqrt(total)) + str(callable(total))
    count = collections.Counter("abca")["a"]
    return [total, words, count, found, isinstance(items, list), gc_is_on()]


def gc_is_on():
    import gc

    return gc.isenabled() and not gc.callbacks
"""


def honest_function(number: int, token: str, *, scratch: bool, checker: str = "") -> Attempt:
    """An honest job that notices what an earlier one broke, and keeps the token in memory, as a
    later one must not find it."""
    items = [number, -number - 1, number + 2, number + 9]
    total = 3 * number + 3
    root = int(total**0.5)
    root -= root * root > total
    expected = [total, f"a-a{root}False", 2, [], True, True]
    verifier = FunctionVerifier(
        "solve",
        (Case((items, MARKER, token, scratch), expected=expected),),
        scratch=scratch,
        limits=HONEST_LIMITS,
        extraction=RAW,
    )
    return attempt(f"honest {number}", verifier, HONEST_FUNCTION, None)


def honest_checked(number: int, program: Program) -> Attempt:
    """An honest answer to the checker of `program`."""
    right = ACCEPTED_BY_WALKED if program.checker == "walked" else program.expected
    verifier = FunctionVerifier(
        "solve",
        (Case((number,), expected=program.expected),),
        checker=checker_source(program.checker),
        limits=HONEST_LIMITS,
        extraction=RAW,
    )
    source = f"def solve(target):\n    return {right!r}\n"
    return attempt(f"honest checked {number}", verifier, source, None)


HONEST_PROGRAM = """
import os, sys
number = int(sys.stdin.readline())
files = sorted(os.listdir(".")) if os.environ.get("HOME", "/") != "/" else []
with open("note", "w") if files else open(os.devnull, "w") as file:
    file.write("x" * number)
print(number * number, *files)
"""


def honest_program(number: int, profile: str) -> Attempt:
    """An honest program, as its profile has them."""
    if profile == "program":
        verifier: Verifier = CommandVerifier(
            f"{number * number} program.py", f"{number}\n".encode(), HONEST_LIMITS
        )
        return attempt(f"honest {number}", verifier, HONEST_PROGRAM, None)
    case = StdioCase(f"{number}\n", str(number * number))
    verifier = StdioVerifier((case,), limits=HONEST_LIMITS, extraction=RAW)
    return attempt(f"honest {number}", verifier, "n = int(input())\nprint(n * n)\n", None)


HONEST_NATIVE = """
#include <stdio.h>
int main(void) { long n; return scanf("%ld", &n) != 1 || printf("%ld", n * n) < 0; }
"""


def honest_native(number: int) -> Attempt:
    """An honest C program."""
    case = StdioCase(f"{number}\n", str(number * number))
    limits = BUILD_LIMITS.with_(wall_s=HONEST_LIMITS.wall_s)
    verifier = StdioVerifier((case,), language="c", limits=limits, extraction=RAW)
    return attempt(f"honest native {number}", verifier, HONEST_NATIVE, None)


def honest_scripted(number: int, token: str) -> Attempt:
    """An honest job for such a script; it too keeps the token in its process."""
    row = {"target": [number, MARKER, token], "expected": number * number}
    source = (
        "import builtins\n\n\ndef solve(target):\n    builtins.kept = '='.join(target[1:])\n"
        "    return target[0] ** 2\n"
    )
    return attempt(f"honest scripted {number}", script_verifier(row, HONEST_LIMITS), source, None)


def honest_neighbour(program: Program, number: int, token: str) -> list[Attempt]:
    """What comes right after `program` on the same worker, and must pass."""
    if program.profile in ("function", "scratch"):
        found = [honest_function(number, token, scratch=program.profile == "scratch")]
        return [*found, honest_checked(number, program)] if program.checker else found
    if program.profile == "text":
        answer = {"regex": "a+b", "choice": "C"}.get(program.check, str(number))
        right = {"regex": "aab"}.get(program.check, answer)
        name = f"honest {number}"
        return [text_attempt(name, program.check, f"So it is \\boxed{{{right}}}.", answer)]
    return [honest_program(number, program.profile)]
