"""Write the cases as a script of assertions, run it beside the solution, look at its status."""

import json
import os
import subprocess
import sys
import tempfile

HEAD = "from solution import slug\n\n"


def _script(cases):
    lines = [f"assert slug({case['args'][0]!r}) == {case['expected']!r}" for case in cases]
    return HEAD + "\n".join(lines) + "\n"


def verify(solution_path, test_cases_path):
    """{"score": 1.0} when all assertions hold."""
    with open(test_cases_path) as file:
        cases = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        with open(solution_path) as source:
            code = source.read()
        with open(os.path.join(folder, "solution.py"), "w") as target:
            target.write(code)
        check = os.path.join(folder, "check.py")
        with open(check, "w") as target:
            target.write(_script(cases))
        try:
            run = subprocess.run(
                [sys.executable, check], capture_output=True, timeout=5, cwd=folder
            )
        except subprocess.TimeoutExpired:
            return {"score": 0.0, "reason": "timeout"}
    return {"score": 1.0 if run.returncode == 0 else 0.0, "reason": run.stderr.decode()[-200:]}
