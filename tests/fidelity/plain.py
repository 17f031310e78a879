"""The judgement of plain CPython: a fresh interpreter for each program, the tasks' comparison.

A program is right when `python3 solution.py < input` exits with 0 and prints the expected tokens in
every case; a function when an import of its module and a call gives the expected value, of the same
type all the way down, in every case.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_TIMEOUT_S = 120.0
_CALLER = """
import json, os, sys

def same(a, b):
    if type(a) is not type(b):
        return False
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is dict:
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b

plan = json.load(open(sys.argv[1]))
sys.path.insert(0, plan["folder"])
right = True
try:
    import solution

    for case in plan["cases"]:
        value = getattr(solution, plan["entry"])(*case.get("args", []), **case.get("kwargs", {}))
        expected = case["expected"]
        if "expected_py" in case:
            expected = eval(case["expected_py"], {"inf": float("inf"), "nan": float("nan")})
        right = right and same(value, expected)
except BaseException:
    right = False
with open(sys.argv[2], "w") as file:
    json.dump(right, file)
os._exit(0)
"""


def environment(home: str) -> dict[str, str]:
    """The variables that a job has too."""
    return {
        "HOME": home,
        "LC_ALL": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONHASHSEED": "0",
        "TMPDIR": home,
        "TZ": "UTC",
    }


def run_program(source: str, stdin: str) -> tuple[int, bytes]:
    """(exit code, standard output) of a program that reads its input from a file."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as given:
        path = Path(folder, "solution.py")
        path.write_bytes(source.encode("utf-8", "surrogatepass"))
        given.write(stdin.encode("utf-8", "surrogateescape"))
        given.seek(0)
        done = subprocess.run(
            [sys.executable, str(path)],
            stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=folder, env=environment(folder), timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout


def accepts(item: dict[str, Any], source: str) -> bool:
    """True when plain CPython finds `source` right for the cases of `item`."""
    try:
        if item["kind"] == "function":
            return _accepts_function(item, source)
        return all(
            (code, output.split()) == (0, case["stdout"].encode("utf-8", "surrogateescape").split())
            for case in item["cases"]
            for code, output in [run_program(source, case["stdin"])]
        )
    except subprocess.TimeoutExpired:
        return False


def _accepts_function(item: dict[str, Any], source: str) -> bool:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as apart:
        Path(folder, "solution.py").write_bytes(source.encode("utf-8", "surrogatepass"))
        plan, found = Path(apart, "plan.json"), Path(apart, "found.json")
        plan.write_text(
            json.dumps({"folder": folder, "entry": item["entry"], "cases": item["cases"]})
        )
        subprocess.run(
            [sys.executable, "-c", _CALLER, str(plan), str(found)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=folder, env=environment(folder), timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        return found.exists() and json.loads(found.read_text()) is True
