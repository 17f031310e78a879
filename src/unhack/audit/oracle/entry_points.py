"""Entry points: `name`, `Class.method` and `Class().method`, which mean the same here.

Covered: functions; methods of classes that are made without arguments, static and class methods.
Not covered: objects that need arguments, and several methods called one after the other.
"""

from __future__ import annotations

import ast

from unhack.core.completion import extract_code

_NAME = "unhack_entry"


def without_brackets(entry: str) -> str:
    """The entry point without brackets: `Solution().f` is `Solution.f`."""
    return entry.replace("()", "")


def as_function(source: str, entry: str) -> tuple[str, str]:
    """(source, name of a function in it that does what the entry point does)."""
    owner, _, method = without_brackets(entry).rpartition(".")
    if not owner:
        return source, method
    adapter = (
        f"def {_NAME}(*args, **kwargs):\n"
        f"    owner = {owner}\n"
        "    if isinstance(owner, type):\n"
        "        try:\n"
        "            owner = owner()\n"
        "        except TypeError:\n"
        "            pass\n"
        f"    return owner.{method}(*args, **kwargs)\n"
    )
    return f"{source.rstrip()}\n\n\n{adapter}", _NAME


def definition_of(completion: str, entry: str) -> ast.FunctionDef | None:
    """The syntax tree of the entry point; None where it is not defined as a function."""
    try:
        body: list[ast.stmt] = ast.parse(extract_code(completion) or completion).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    *owners, name = without_brackets(entry).split(".")
    for owner in owners:
        found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
        body = found[-1].body if found else []
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    return functions[-1] if functions else None
