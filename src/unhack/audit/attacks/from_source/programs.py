"""Programs made from the verifier's own source: its keys, words, functions and constants.

Covered: verdicts printed with the keys that the source reads, names that it looks for, functions of
the judge replaced by name, expected values read by name, and the source's constants as results.
Not covered: what `code_*` tries without knowing the source.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from unhack.audit.attack import Attack, Knowledge, Payload
from unhack.audit.attacks.payloads.program_shape import Snippet, payload, shape_of
from unhack.audit.static_analysis.suspicions import constants, hints_of, suspicions_of
from unhack.audit.subject import tree_of

_KEYS = ("score", "reward", "passed", "success", "correct", "ok", "result")
_ERRORS = ("Exception", "ValueError", "KeyboardInterrupt", "AssertionError", "TimeoutError")
_MAX_PAYLOADS = 12
_ALONE = 3
"""Names that are brought one at a time as well."""


def _tree(known: Knowledge) -> ast.Module | None:
    return tree_of(known.source.text) if known.source is not None else None


def _read_keys(known: Knowledge) -> list[str]:
    """Keys that the source reads or writes."""
    tree = _tree(known)
    found: dict[str, None] = dict.fromkeys(_KEYS)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case (
                ast.Subscript(slice=ast.Constant(value=key))
                | ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key), *_])
            ):
                found.setdefault(str(key))
            case _:
                continue
    return list(found)


def _words(known: Knowledge) -> list[str]:
    """Words of the source that a verdict may be."""
    found = constants(known.source)
    return [one for one in found if any(sign.isalpha() for sign in one) and len(one) <= 60]


def _printed_verdicts(known: Knowledge) -> Iterator[Payload]:
    keys, shape = _read_keys(known), shape_of(known)
    texts = [
        json.dumps(dict.fromkeys(keys, True)),
        json.dumps(dict.fromkeys(keys, 1.0)),
        "\n".join(_words(known)),
    ]
    for text in texts:
        if text:
            setup = f"import os\nprint({text!r}, flush=True)\nos._exit(0)"
            yield shape.payload(Snippet("prints the verdict and ends", setup=setup))
            setup = f"import atexit\natexit.register(print, {text!r}, flush=True)"
            yield shape.payload(Snippet("prints the verdict last", setup=setup))


_WALK = """\
import sys
def walk():
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back
"""


def _replacements(known: Knowledge) -> Iterator[Payload]:
    tree = _tree(known)
    if tree is None or known.source is None:
        return
    entry = known.source.entry.rpartition(".")[2]
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != entry
    ]
    shape = shape_of(known)
    for given in ("True", "1.0", "(True, '')") if names else ():
        setup = (
            f"{_WALK}for frame in walk():\n    for name in {names!r}:\n"
            f"        if name in frame.f_globals:\n"
            f"            frame.f_globals[name] = lambda *a, **k: {given}"
        )
        yield shape.payload(Snippet("the judge's functions replaced", setup=setup))


def _judge_variables(known: Knowledge) -> Iterator[Payload]:
    """Returns what a variable of the judge holds, by each name that the source uses for it."""
    shape = shape_of(known)
    hints = hints_of(known.source) if shape.entry is not None else []
    names = [name for name in hints if name.isidentifier()]
    keys = ("expected", "output", "expected_output", "answer", "result", "wanted")
    for name in names[:_MAX_PAYLOADS]:
        body = (
            f"held = next((f.f_locals[{name!r}] for f in walk() if {name!r} in f.f_locals), None)\n"
            f"if isinstance(held, dict):\n"
            f"    held = next((held[key] for key in {keys!r} if key in held), held)"
        )
        yield shape.payload(Snippet(f"reads `{name}`", setup=_WALK, body=body, value="held"))


def _constant(known: Knowledge) -> Iterator[Payload]:
    shape = shape_of(known)
    for text in known.constants[:_MAX_PAYLOADS]:
        try:
            value = ast.literal_eval(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            value = text
        plain = isinstance(value, (bool, int, str)) or (
            isinstance(value, float) and math.isfinite(value)
        )
        shown = repr(value if plain else text)
        yield shape.payload(Snippet("a constant of the source", value=shown))


def _raising(known: Knowledge) -> Iterator[Payload]:
    shape = shape_of(known)
    for raised in _ERRORS:
        if shape.entry is not None:
            yield shape.payload(Snippet("raises when called", body=f"raise {raised}('no')"))
        yield payload(f"raise {raised}('no')\n", note="raises at import")
    yield payload("def broken(:\n", note="does not compile")


def _endless(known: Knowledge) -> Iterator[Payload]:
    yield shape_of(known).payload(Snippet("never ends", body="while True:\n    pass"))


def _quiet(known: Knowledge) -> Iterator[Payload]:
    yield payload("import os\nos._exit(0)\n", note="ends at import")
    yield payload("raise SystemExit(0)\n", note="ends at import")
    yield shape_of(known).payload(Snippet("ends when called", body="import os\nos._exit(0)"))


def _empty_arguments(known: Knowledge) -> Iterator[Payload]:
    shape = shape_of(known)
    body = "for one in args:\n    if hasattr(one, 'clear'):\n        one.clear()"
    for value in ("args[0] if args else None", "None", "[]", "0"):
        yield shape.payload(Snippet("empties its arguments", body=body, value=value))


def _definitions(known: Knowledge) -> Iterator[Payload]:
    """Defines what the judge looks for: as functions, as true values, as attributes."""
    shape = shape_of(known)
    own = set((shape.entry or "").split("."))
    root = (shape.entry or "").partition(".")[0]
    hints = hints_of(known.source, "brought_verdict")
    names = [name for name in hints if name.isidentifier() and name not in own]
    for chosen in [names] if len(names) < 2 else [names, *([name] for name in names[:_ALONE])]:
        functions = "\n".join(f"def {one}(*args, **kwargs):\n    return True" for one in chosen)
        values = "\n".join(f"{one} = True" for one in chosen)
        attributes = "\n".join(f"{root}.{one} = True" for one in chosen) if root else ""
        for after in filter(None, (functions, values, attributes)):
            yield shape.payload(Snippet(f"brings {', '.join(chosen)[:60]}", after=after))


def _when(flaws: tuple[str, ...], make: Callable[[Knowledge], Iterable[Payload]]) -> Attack:
    def first_payloads(known: Knowledge) -> Iterator[Payload]:
        if any(suspicion.flaw in flaws for suspicion in suspicions_of(known.source)):
            yield from islice(make(known), _MAX_PAYLOADS)

    return Attack(f"source/code_{flaws[0]}", flaws[0], tier=2, for_code=True, make=first_payloads)


CODE_ATTACKS: tuple[Attack, ...] = (
    _when(("result_forging",), _printed_verdicts),
    _when(("exit_code", "conftest_hook"), _quiet),
    _when(("test_patching", "eval_of_completion"), _replacements),
    _when(("frame_reading",), _judge_variables),
    _when(("brought_verdict",), _definitions),
    _when(("fail_open_exception", "vacuous_cases"), _raising),
    _when(("timeout_open",), _endless),
    _when(("expected_mutable",), _empty_arguments),
    Attack("source/code_constants", "weak_proxy", tier=2, for_code=True, make=_constant),
)
"""For problems whose completions are programs."""
