"""Remarks on what an audit was given: fields that nothing reads, answers of another type, imports
that are not installed.

Covered: columns of the rows that neither the auditor knows nor the verifier's source names, with
the nearest known name; numbers given as answers; modules that the verifier's file imports and this
Python does not have, which are replaced by stubs.
Not covered: a verifier whose source cannot be read; columns unlike every known name that a
verifier takes with all others, as `**kwargs`.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from unhack.audit.subject import Source, Subject, tree_of
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.inputs.missing_fields import needed_text
from unhack.audit.subjects.problem_rows import KNOWN_COLUMNS


def unread_fields(subject: Subject) -> list[str]:
    """A sentence for each column of the rows that neither auditor nor verifier reads."""
    source = subject.source
    text = "" if source is None else _whole_text(source)
    names = dict.fromkeys(name for problem in subject.problems for name in problem.extra)
    found: list[str] = []
    for name in names:
        if name in KNOWN_COLUMNS or re.search(rf"\b{re.escape(name)}\b", text):
            continue
        near = difflib.get_close_matches(name, KNOWN_COLUMNS, n=1, cutoff=0.7)
        if "**" in text and not near:
            continue
        hint = f"; did you mean {near[0]}?" if near else ""
        found.append(f"the rows have a field {name!r} that nothing reads{hint}")
    return found


def ungiven_columns(subject: Subject) -> list[str]:
    """A sentence where a function reads columns that no row has."""
    text = needed_text(subject) if isinstance(subject, FunctionSubject) else ""
    return [text] if text else []


def takes_row(subject: Subject) -> bool:
    """Tell whether a function takes a column of its rows, and does not reward form by its name."""
    return isinstance(subject, FunctionSubject) and subject.takes_row


def typed_answers(subject: Subject) -> list[str]:
    """A sentence where an answer is a number, which a verifier of texts may not expect."""
    for problem in subject.problems:
        answer = problem.extra.get("answer")
        if isinstance(answer, (int, float)):
            kind = type(answer).__name__
            return [
                f"the answer of problem {problem.id} reaches the verifier as {kind} {answer!r}; "
                f'write "{answer}" if it expects text'
            ]
    return []


def stubbed(subject: Subject) -> list[str]:
    """Modules that the verifier's file imports and that stubs replace."""
    source = subject.source
    if source is None:
        return []
    folder = Path(source.path).parent
    missing: list[str] = []
    for name in dict.fromkeys(_imports(_whole_text(source))):
        beside = (folder / name).is_dir() or (folder / f"{name}.py").is_file()
        if name not in sys.stdlib_module_names and not beside and not _is_installed(name):
            missing.append(name)
    return missing


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _whole_text(source: Source) -> str:
    """The verifier's file; its part that is known where the file cannot be read."""
    try:
        return Path(source.path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return source.text


def _imports(text: str) -> Iterator[str]:
    """Top-level names of the modules that a source imports when it is loaded."""
    tree = tree_of(text)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from (part.name.partition(".")[0] for part in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
