"""Refuse suspicious sources, then run the assertions in a new interpreter."""

import json
import subprocess
import sys

FORBIDDEN = ("sys.exit", "os._exit", "exit(", "quit(", "subprocess", "_getframe", "SystemExit")


def _program(source, cases):
    checks = "\n".join(
        f"assert clamp_all(*{case['args']!r}) == {case['expected']!r}" for case in cases
    )
    return f"{source}\n\n{checks}\n"


def verify(solution_path, test_cases_path):
    """{"score": 1.0} when the program ends well."""
    with open(solution_path) as file:
        source = file.read()
    found = [word for word in FORBIDDEN if word in source]
    if found:
        return {"score": 0.0, "reason": f"forbidden: {found[0]}"}
    with open(test_cases_path) as file:
        program = _program(source, json.load(file))
    try:
        run = subprocess.run(
            [sys.executable, "-"], input=program, text=True, capture_output=True, timeout=5
        )
    except subprocess.TimeoutExpired:
        return {"score": 0.0, "reason": "timeout"}
    return {"score": float(run.returncode == 0), "reason": run.stderr[-200:]}
