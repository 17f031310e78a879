"""Entry points: `name`, `Class.method` and `Class().method`, which mean the same here.

Covered: functions; methods of classes that are made without arguments, static and class methods;
programs with words on their command line.
Not covered: objects that need arguments, and several methods called one after the other: those are
`unhack.audit.oracle.inputs`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from unhack.audit.subject import tree_of
from unhack.core.completion import Extraction, extract_code

_NAME = "unhack_entry"
_MARK_UP = re.compile(r"[ \t]*(?:(?:```+|~~~+)[ \t]*\w*|</?[\w-]+>|\[/?[A-Z]+\])[ \t]*")
"""A line that is a fence or a tag."""


def program_text(completion: str) -> str:
    """The code of a completion, or the completion where it has no fence."""
    return extract_code(completion, how=Extraction.AUTO) or completion


def frame_of(completions: Sequence[str]) -> tuple[str, str]:
    """The fences and tags before and behind the code of the first completion; empty for none."""
    if not completions:
        return "", ""
    head, code, tail = completions[0].partition(program_text(completions[0]))
    return (_mark_up(head), _mark_up(tail)) if code else ("", "")


def _mark_up(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if _MARK_UP.fullmatch(line))


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


def first_place(body: Sequence[ast.stmt]) -> int:
    """The number of lines before the first statement that is no docstring or future import."""
    place = 0
    for number, node in enumerate(body):
        docstring = number == 0 and isinstance(node, ast.Expr) and _is_text(node.value)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (docstring or future):
            break
        place = node.end_lineno or node.lineno
    return place


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def with_words(source: str, words: Sequence[str]) -> str:
    """The program as if these words stood on its command line."""
    if not words:
        return source
    tree = tree_of(source)
    lines = source.split("\n")
    lines.insert(
        first_place(tree.body) if tree is not None else 0,
        f"__import__('sys').argv[1:] = {list(words)!r}",
    )
    return "\n".join(lines)


def definition_of(completion: str, entry: str) -> ast.FunctionDef | None:
    """The syntax tree of the entry point; None where it is not defined as a function."""
    tree = tree_of(extract_code(completion) or completion)
    body: list[ast.stmt] = tree.body if tree is not None else []
    *owners, name = without_brackets(entry).split(".")
    for owner in owners:
        found = [node for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
        body = found[-1].body if found else []
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    return functions[-1] if functions else None
