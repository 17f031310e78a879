"""Run solution and cases in a process of their own, which reports on its standard output."""

import json
import subprocess
import sys

RUNNER = """
import json, runpy, sys
solution, cases = sys.argv[1:]
function = runpy.run_path(solution)["word_lengths"]
rows = json.load(open(cases))
passed = 0
for row in rows:
    got = function(*row["args"])
    passed += type(got) is list and got == row["expected"]
print(json.dumps({"passed": passed, "total": len(rows)}))
"""


def verify(solution_path, test_cases_path):
    """The share of passed cases, as the runner reports it."""
    command = [sys.executable, "-c", RUNNER, solution_path, test_cases_path]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=5)
    except subprocess.TimeoutExpired:
        return {"score": 0.0, "reason": "timeout"}
    for line in reversed(run.stdout.splitlines()):
        try:
            report = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(report, dict) and report.get("total"):
            return {"score": report["passed"] / report["total"]}
    return {"score": 0.0, "reason": run.stderr[-200:]}
