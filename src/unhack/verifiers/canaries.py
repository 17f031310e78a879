r"""Completions that nobody wrote: what a verifier without a reference is asked when it breaks.

    texts("5", hints(function))      `5`, `#### 5`, `\boxed{5}`, `{"answer": "5"}` …
    modules(["solve"], sources)      modules whose `solve` returns None, 0, "", [] …

One of them that is judged, right or wrong, shows that the verifier works, so that what broke it was
the completion. The forms come from the expected answer and from what the verifier's own code says:
its string constants and patterns, the names that it imports.

Covered: callables that split, search, index or parse JSON by constants of their own, in helpers of
their module too; scripts that compare, index, sort or iterate what a function returns.
Not covered: forms that follow from no constant. Such a verifier needs a reference; without one,
another completion that it has judged stands in (see `unhack.tasks.execution.driver`).
"""

from __future__ import annotations

import ast
import functools
import json
import re
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

_MAX_HINTS = 12
_MAX_HINT_CHARS = 80
_MAX_CODES = 20
"""Functions whose constants are read: the verifier's own and those that it names."""
_DAY = time.gmtime(86_400)
_VALUES = ("None", "0", '""', '"0"', "[]", "[0]", "[[0, 0]]", "{}", "(0, 0)", "True")
"""Source of what a fake returns, besides its first argument."""


def texts(answer: str | None, hints: Sequence[str] = ()) -> tuple[str, ...]:
    """Texts with `answer` (`0` where there is none) in the usual forms and in those that `hints`
    suggest; the plainest first."""
    value = (answer or "").strip() or "0"
    forms = ["0", value]
    if hints:
        keyed = dict.fromkeys(hints, value)
        forms += [
            "\n".join(f"{hint} {value}" for hint in hints),
            "\n".join(_sample(hint, value) for hint in hints),
            *map(json.dumps, (keyed, [keyed], dict.fromkeys(hints, _number(value)))),
            json.dumps({hint: [value] for hint in hints}),
            *(json.dumps(_nested(order, value)) for order in (hints, hints[::-1])),
            *(f"{value} {hint} {value} {hint} {value}" for hint in hints),
            *(_sample(hint, value) for hint in hints),
            *(f"<{hint}>{value}</{hint}>" for hint in hints if hint.isidentifier()),
            *(f"<x><{hint}>{value}</{hint}></x>" for hint in hints if hint.isidentifier()),
            *(time.strftime(hint, _DAY) for hint in hints if "%" in hint),
        ]
    forms += [
        f"#### {value}",
        f"\\boxed{{{value}}}",
        f"<think>\n{value}\n</think>\n<answer>{value}</answer>",
        f"The answer is {value}.\nAnswer: {value}",
        json.dumps({"answer": value}),
        json.dumps({"answer": _number(value)}),
        json.dumps([value]),
        "{}",
        f"```python\ndef solve(*args):\n    return {value!r}\n```",
        f"{value} {value}\n{value} {value}\n{value}, {value}\n{value}, {value}",
        "",
    ]
    return tuple(dict.fromkeys(forms))


def _nested(keys: Sequence[str], value: str) -> Any:
    made: Any = value
    for key in reversed(keys):
        made = {key: made}
    return made


def _number(value: str) -> float | str:
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return value


_SAMPLED = (
    (re.compile(r"\(\?[a-zA-Z]+\)|\(\?[=!<][^()]*\)|\\[bBAZ]|(?<!\\)[\^$]"), ""),
    (re.compile(r"\((?:\?P<\w+>)?(?!\?)(?:[^()\\]|\\.)*\)[*+?]*"), "\0"),
    (re.compile(r"\(\?:([^()|]*)[^()]*\)[*+?]*"), r"\1"),
    (re.compile(r"\\s[*+?]*"), " "),
    (re.compile(r"\\[dwS][*+?]*|(?<!\\)\[(?:[^\]\\]|\\.)*\][*+?]*"), "\0"),
    (re.compile(r"(?<!\\)\.[*+?]+|(?<!\\)[*+?]"), ""),
    (re.compile(r"\\([^a-zA-Z0-9])"), r"\1"),
)


def _sample(pattern: str, value: str) -> str:
    """A text that a simple pattern finds, with `value` where it captures."""
    for part, put in _SAMPLED:
        pattern = part.sub(put, pattern)
    return pattern.replace("\0", value)


def hints(function: Callable[..., Any]) -> tuple[str, ...]:
    """String constants and patterns in the code of a callable and of functions that it names."""
    found: dict[str, None] = {}
    for code, names in _codes(function):
        for text in (*_constants(code), *(text for name in names for text in _texts_in(name))):
            if text.strip() and len(text) <= _MAX_HINT_CHARS:
                found.setdefault(text)
    return tuple(found)[:_MAX_HINTS]


def _codes(function: Callable[..., Any]) -> Iterator[tuple[types.CodeType, list[Any]]]:
    """(code, values of the global names that it uses), of the callable and what it names."""
    waiting: list[Any] = [function]
    seen: list[types.CodeType] = []
    while waiting and len(seen) < _MAX_CODES:
        item = _plain_function(waiting.pop(0))
        if item is None or item.__code__ in seen:
            continue
        seen.append(item.__code__)
        used = [item.__globals__.get(name) for name in item.__code__.co_names]
        cells = [cell.cell_contents for cell in item.__closure__ or () if _is_filled(cell)]
        yield item.__code__, [*used, *cells]
        near = (value for value in (*used, *cells) if isinstance(value, types.FunctionType))
        waiting += [value for value in near if value.__module__ == item.__module__]


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _plain_function(item: Any) -> types.FunctionType | None:
    while isinstance(item, functools.partial):
        item = cast("functools.partial[Any]", item).func
    if not isinstance(item, (types.FunctionType, types.MethodType)):
        item = type(item).__dict__.get("__call__")
    item = getattr(item, "__func__", item)
    return item if isinstance(item, types.FunctionType) else None


def _constants(code: types.CodeType) -> Iterator[str]:
    waiting: list[Any] = list(code.co_consts)
    document = code.co_consts[0] if code.co_consts else None
    for item in waiting:
        if isinstance(item, str) and item is not document:
            yield item
        elif isinstance(item, types.CodeType):
            waiting += item.co_consts
        elif isinstance(item, (tuple, frozenset)):
            waiting += cast("Iterable[Any]", item)
    if isinstance(document, str):  # a lambda's first constant, or a documentation
        yield document


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern):
        pattern: object = cast("re.Pattern[Any]", value).pattern
        if isinstance(pattern, str):
            yield pattern


def modules(names: Sequence[str], sources: Iterable[str]) -> tuple[str, ...]:
    """Modules in which every name is a function, or a class; `names` are solution files' modules,
    `sources` the trusted code that imports from them."""
    sources = list(sources)
    wanted = sorted({name for source in sources for name in _imported(source, set(names))})
    keys = dict.fromkeys(text for source in sources for text in _strings(source))
    keyed = (repr(dict.fromkeys(keys, item)) for item in (0, "0", [0])) if keys else ()
    made = [_functions(wanted, item) for item in (*_VALUES, "args[0] if args else 0", *keyed)]
    return (*made, _classes(wanted))


def asserting_line(source: str) -> int:
    """The line of an assert that ends `verify`, or a script without one, by an exception: of the
    script or of a function that it calls, where no handler is around. 0 where there is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return 0
    bodies = {node.name: node.body for node in tree.body if isinstance(node, ast.FunctionDef)}
    waiting, seen = ["verify" if "verify" in bodies else ""], {"verify"}
    bodies[""] = tree.body
    while waiting:
        for node in _unguarded(bodies[waiting.pop()]):
            if isinstance(node, ast.Assert):
                return node.lineno
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in bodies and called.id not in seen:
                seen.add(called.id)
                waiting.append(called.id)
    return 0


def _unguarded(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of statements that run with them and outside any handler of exceptions."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        yield node
        guarded = cast("list[ast.AST]", node.body) if isinstance(node, ast.Try) else []
        kept = guarded if isinstance(node, ast.Try) and node.handlers else []
        waiting += [child for child in ast.iter_child_nodes(node) if child not in kept]


def _functions(names: Sequence[str], value: str) -> str:
    head = f"def _fake(*args, **kwargs):\n    return {value}\n\n\n"
    return head + "".join(f"{name} = _fake\n" for name in names) + _ANY_NAME


_ANY_NAME = "\n\ndef __getattr__(name):\n    return _fake\n"
_CLASS = """class _fake:
    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        return lambda *args, **kwargs: 0


"""


def _classes(names: Sequence[str]) -> str:
    return _CLASS + "".join(f"{name} = _fake\n" for name in names) + _ANY_NAME


def _strings(source: str) -> Iterator[str]:
    """Short string constants of a source, which may be keys."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return
    found = (node.value for node in nodes if isinstance(node, ast.Constant))
    yield from [text for text in found if isinstance(text, str) and len(text) <= _MAX_HINT_CHARS][
        :_MAX_HINTS
    ]


def _imported(source: str, modules: set[str]) -> Iterator[str]:
    """Public names that a source takes from one of the modules."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    called = set(modules)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            yield from (part.name for part in node.names if part.name.isidentifier())
        elif isinstance(node, ast.Import):
            called |= {part.asname for part in node.names if part.name in modules and part.asname}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in called
            and not node.attr.startswith("_")
        ):
            yield node.attr
