"""Cases played against a package: what each question answers, as tests and as sessions.

Covered: plain data and exceptions as answers.
Not covered: objects of the package as answers; a case that asks for one is refused.
"""

from __future__ import annotations

import ast
import builtins
import io
import pprint
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.core.errors import UsageError
from unhack_suites.repos.family import UseCase
from unhack_suites.repos.loader import Loaded, OutOfStepsError

_WIDTH = 96
_VALUE_WIDTH = 80
_PLAIN = (bool, int, float, str, bytes, type(None))


@dataclass(frozen=True, slots=True)
class Line:
    """A played line of a case."""

    text: str
    asks: bool
    """The line is an expression whose answer counts."""
    value: str = ""
    """The answer's literal; of an object, its repr."""
    raised: str = ""
    """The name of the exception's class."""
    message: str = ""


def play(case: UseCase, loaded: Loaded, package: str) -> list[Line]:
    """Play a case; the first exception of a statement ends it."""
    scope = loaded.scope()
    scope.update(public_names(loaded, package))
    loaded.rewind()
    played: list[Line] = []
    for line in case.lines:
        text = line.removeprefix("? ")
        asks = text != line
        try:
            if asks:
                played.append(Line(text, True, literal(eval(text, scope))))
            else:
                exec(text, scope)
                played.append(Line(text, False))
        except (Exception, OutOfStepsError) as error:
            played.append(Line(text, asks, "", type(error).__name__, str(error)))
            if not asks:
                break
    return played


def public_names(loaded: Loaded, package: str) -> dict[str, Any]:
    """The exports of a package: the names that its `__init__` lists."""
    module = loaded.module(package)
    return {name: getattr(module, name) for name in vars(module)["__all__"]}


def literal(value: Any) -> str:
    """The value as source, keys of a dictionary in their order."""
    return pprint.pformat(value, width=_VALUE_WIDTH, sort_dicts=False)


def is_plain(value: Any) -> bool:
    """True for data that crosses a process border as it is."""
    if type(value) in _PLAIN:
        return True
    if type(value) in (list, tuple, set, frozenset):
        return all(is_plain(item) for item in cast(Iterable[Any], value))
    if type(value) is dict:
        items = cast(dict[Any, Any], value)
        return all(is_plain(key) and is_plain(item) for key, item in items.items())
    return False


def check(case: UseCase, played: Sequence[Line]) -> None:
    """Raise UsageError for a case that makes no test: a fault of its family."""
    for line in played:
        if line.raised and not line.asks:
            raise UsageError(f"{case.claim}: {line.text!r} raises {line.raised}: {line.message}")
        if line.asks and not line.raised:
            try:
                plain = is_plain(ast.literal_eval(line.value))
            except (ValueError, SyntaxError):
                plain = line.value == "set()"
            if not plain:
                raise UsageError(f"{case.claim}: {line.text!r} gives {line.value}, no plain data")
    if not any(line.asks for line in played):
        raise UsageError(f"{case.claim}: the case asks nothing")


def as_test(name: str, played: Iterable[Line]) -> str:
    """The source of a test function."""
    body: list[str] = []
    for line in played:
        if line.raised:
            body += [f"with pytest.raises({line.raised}):", f"    {line.text}"]
        elif line.asks:
            body += _assertion(line)
        else:
            body += line.text.splitlines()
    return f"def test_{name}():\n" + "".join(f"    {text}\n" for text in body)


def _assertion(line: Line) -> list[str]:
    tree = ast.parse(line.text, mode="eval").body
    if line.value in ("True", "False") and isinstance(tree, (ast.Compare, ast.BoolOp)):
        return [f"assert {line.text}" if line.value == "True" else f"assert not ({line.text})"]
    if line.value in ("True", "False", "None"):
        return [f"assert {line.text} is {line.value}"]
    short = f"assert {line.text} == {line.value}"
    if len(short) <= _WIDTH and "\n" not in short:
        return [short]
    value = line.value.splitlines()
    if len(value) == 1 and value[0][0] in "[{(" and len(value[0]) > _WIDTH - 12:
        value = pprint.pformat(ast.literal_eval(line.value), width=60, sort_dicts=False).split("\n")
    return [f"expected = {value[0]}", *_indented(value[1:], 11), f"assert {line.text} == expected"]


def _indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line for line in lines]


def used_names(texts: Iterable[str], names: Iterable[str]) -> list[str]:
    """Those of `names` that the lines name."""
    wanted = set(names)
    found = {
        node.id
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and node.id in wanted
    }
    return sorted(found, key=lambda name: (not name.isupper(), name.lower() == name, name))


def as_file(title: str, package: str, plays: Mapping[str, Sequence[Line]], names: set[str]) -> str:
    """A test file: name of a test -> its played lines."""
    lines = [line for played in plays.values() for line in played]
    texts = [line.text for line in lines] + [line.raised for line in lines if line.raised]
    used = used_names(texts, names)
    raised = {line.raised for line in lines if line.raised}
    strange = sorted(name for name in raised if name not in names and not hasattr(builtins, name))
    if strange:
        raise UsageError(f"{package}: {strange[0]} is raised and not exported")
    head = [f'"""{title}"""', ""]
    head += ["import pytest", ""] if raised else []
    head += imports(package, used)
    body = [as_test(name, played) for name, played in plays.items()]
    return double_quoted("\n".join(head) + "\n\n\n" + "\n\n".join(body))


def double_quoted(source: str) -> str:
    """The source with simple strings in double quotes."""
    lines = source.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string
        plain = token.type == tokenize.STRING and text[0] == "'" and text[:3] != "'''"
        if plain and '"' not in text and "\\" not in text:
            (row, start), end = token.start, token.end[1]
            line = lines[row - 1]
            lines[row - 1] = f'{line[:start]}"{text[1:-1]}"{line[end:]}'
    return "".join(lines)


def imports(package: str, used: Sequence[str]) -> list[str]:
    """The lines that import names of a package."""
    short = f"from {package} import {', '.join(used)}"
    if len(short) <= _WIDTH:
        return [short]
    return [f"from {package} import (", *(f"    {name}," for name in used), ")"]


def as_session(package: str, played: Sequence[Line], names: Iterable[str]) -> str:
    """The lines as a session of the interactive interpreter."""
    out = [">>> " + imports(package, used_names([line.text for line in played], names))[0]]
    if out[0].endswith("("):
        used = used_names([line.text for line in played], names)
        out = [f">>> from {package} import {', '.join(used)}"]
    for line in played:
        first, *rest = line.text.splitlines()
        out += [f">>> {first}", *(f"... {text}" for text in rest)]
        if line.raised:
            message = f": {line.message}" if line.message else ""
            out += ["Traceback (most recent call last):", "  ...", f"{line.raised}{message}"]
        elif line.asks and line.value != "None":
            out.append(line.value)
    return "\n".join(out)
