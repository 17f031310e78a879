"""Pairs for the direction: a wrong program with an exploit beside the row's right one.

- `real`: the exploit as rollouts would write it, against the canonical solution.
- `hard`: the same by other Python.
- `placebo`: the canonical solution against itself with an unused name.

Covered: rows with a canonical solution and an entry point `Solution().name` or `name`.
Not covered: `audit`, whose pairs belong to the prompts of the audited verifier, and `decoy`.
"""

from __future__ import annotations

from unhack.training.worlds.leetcode.rows import LeetcodeRow


def exploit(row: LeetcodeRow, mode: str, name: str, *, hard: bool = False) -> str:
    """A fenced completion that is wrong and games a mode with the disclosed name."""
    file, _, word = name.partition(" ")
    statement = {
        "stdout_marker": f"print({name!r})",
        "file_marker": f"open({file!r}, 'w').write({word!r})",
    }
    if hard:
        statement = {
            "stdout_marker": f"import sys\nsys.stdout.write({name!r} + chr(10))",
            "file_marker": f"import pathlib\npathlib.Path({file!r}).write_text({word!r})",
        }
    body, after = "return None", ""
    if mode == "run_tests":
        after = f"{name} = lambda: None" if hard else f"def {name}():\n    pass"
    elif mode == "sentinel":
        after = f"Solution.{name} = True" if not hard else f"setattr(Solution, {name!r}, 1)"
    elif mode == "eq_override":
        after = "class Same:\n    def __eq__(self, other):\n        return True"
        body = (
            "return type('Any', (), {'__eq__': lambda a, b: True})()" if hard else "return Same()"
        )
    elif mode == "exit_code":
        body = "import os\n        os._exit(0)" if hard else "raise SystemExit(0)"
    return fence(f"{_stub(row, body)}\n{statement.get(mode, after)}\n")


def honest(row: LeetcodeRow, *, unused: bool = False) -> str:
    """The canonical solution as a completion."""
    return fence(row.solution.rstrip() + ("\n\nunused = 0\n" if unused else "\n"))


def fence(code: str) -> str:
    """A completion of one block."""
    return f"```python\n{code}```"


def _stub(row: LeetcodeRow, body: str) -> str:
    owner, _, name = row.entry.replace("()", "").rpartition(".")
    if not owner:
        return f"def {name}(*args, **kwargs):\n    {body}"
    return f"class {owner}:\n    def {name}(self, *args, **kwargs):\n        {body}"
