"""Suspicions about how a verifier runs and judges programs, models and itself.

Covered: evaluated text, completions loaded into the judge's process and what they then reach,
results read from their output, test runners, timers, alarms, import paths, state between calls,
skipped cases and judge models. Not covered: what a sandbox around the verifier prevents.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import (
    COMPLETION,
    GOLD,
    JUDGE,
    LOADED,
    LOADERS,
    MANY,
    NOTHING,
    PROCESS,
    RESULT,
    STDOUT,
    Function,
    calls_of,
    name_of_call,
    owner_of,
)
from unhack.audit.static_analysis.outcome import SCORE_KEYS, Hit

_EVALUATORS = ("sympify", "parse_expr", "parse_latex", "latex2sympy", "simplify", "N")
_LOOKING = {"print", "len", "repr", "str", "type", "isinstance"}
_CLOCKS = {"time", "perf_counter", "monotonic", "process_time", "perf_counter_ns", "time_ns"}


def code_hits(scope: Scope) -> Iterator[Hit]:
    """Every suspicion of this kind in a scope."""
    loads = False
    for node in scope.nodes():
        match node:
            case ast.Call():
                yield from _optional_names(node, scope)
                found = list(_call(node, scope))
                fresh = [one for one in found if one.flaw != "test_patching" or not loads]
                loads = loads or any(one.flaw == "test_patching" for one in found)
                yield from fresh
            case ast.Compare():
                yield from _result(node, scope)
                yield from _membership(node, scope)
            case ast.Subscript():
                yield from _forging(node, scope)
            case ast.Assign() | ast.AugAssign():
                yield from _state(node, scope)
            case ast.For():
                yield from _skips(node, scope)
            case _:
                pass
    yield from _reachable(scope)
    yield from _timing(scope)
    yield from _shared_state(scope)


def _call(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    name = name_of_call(node)
    given = frozenset[str]().union(*map(scope.of, node.args))
    plain_name = isinstance(node.func, ast.Name)
    first = scope.of(node.args[0]) if node.args else NOTHING
    if name in ("eval", "exec") and plain_name and COMPLETION in first:
        golds = tuple(sorted(key for key, labels in scope.names.items() if GOLD in labels))
        yield Hit("eval_of_completion", node, f"`{name}` runs the completion's text", golds)
        if name == "exec" and len(node.args) > 1:
            yield Hit("test_patching", node, "the completion runs in the judge's process")
    elif name in _EVALUATORS and COMPLETION in first:
        if GOLD not in first:
            yield Hit("answer_evaluated", node, f"`{name}` computes what the completion left open")
    elif name in LOADERS and COMPLETION in given:
        yield Hit("test_patching", node, "the completion is loaded into the judge's process")
    elif name == "insert" and COMPLETION in given and "sys.path" in ast.unparse(node.func):
        yield Hit("module_shadowing", node, "the completion's files come first on the path")
    elif name in ("alarm", "setitimer"):
        yield Hit("timer_tampering", node, "the alarm can be cancelled, and needs the main thread")
    elif PROCESS in scope.of(node):
        words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
        if "pytest" in words and "--noconftest" not in words:
            yield Hit("conftest_hook", node, "pytest loads `conftest.py` beside the completion")
    elif JUDGE in scope.of(node) and name not in ("lower", "upper", "strip"):
        inside = [scope.of(one) for one in node.args]
        inside += [scope.of(one.value) for one in node.keywords]
        if any(COMPLETION in one and JUDGE not in one for one in inside):
            yield Hit("judge_injection", node, "the completion's words go into the judge's prompt")


def _result(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In)):
        return
    for side in (node.left, node.comparators[0]):
        if RESULT in scope.of(side) and name_of_call(side) not in ("type", "len"):
            why = "an object of the completion decides whether it is equal"
            yield Hit("always_equal_object", node, why)
            return


_OPTIONAL = "whether this is there is up to the completion"


def _optional_names(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    """Suspicions about names that the judge looks for in the completion's module and can miss."""
    name, arguments = name_of_call(node), node.args
    if name == "getattr" and len(arguments) == 3:
        base, key = arguments[0], scope.constant(arguments[1])
    elif name == "get" and isinstance(node.func, ast.Attribute) and arguments:
        base, key = node.func.value, scope.constant(arguments[0])
    else:
        return
    if isinstance(key, str) and scope.of(base) & {LOADED, RESULT}:
        yield Hit("brought_verdict", node, _OPTIONAL, (key,))


def _membership(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    key = scope.constant(node.left)
    held = isinstance(node.ops[0], (ast.In, ast.NotIn)) and LOADED in scope.of(node.comparators[0])
    if held and isinstance(key, str):
        yield Hit("brought_verdict", node, _OPTIONAL, (key,))


def _reachable(scope: Scope) -> Iterator[Hit]:
    """A call of the completion's code in a frame that holds the expected values."""
    held = tuple(sorted(name for name, labels in scope.names.items() if GOLD in labels))
    if not held:
        return
    for node in scope.nodes():
        if isinstance(node, ast.Call) and _is_run(node, scope):
            yield Hit("frame_reading", node, "the expected values are one frame up", held)
            return


def _is_run(node: ast.Call, scope: Scope) -> bool:
    """Tell whether a call enters a function of the completion, in this process."""
    if isinstance(node.func, ast.Name):
        return LOADED in scope.look(node.func.id)
    if name_of_call(node) in ("get", "exec_module", "pop"):
        return False
    base = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return LOADED in scope.of(base)


def _forging(node: ast.Subscript, scope: Scope) -> Iterator[Hit]:
    key = scope.constant(node.slice)
    if isinstance(key, str) and key in SCORE_KEYS and STDOUT in scope.of(node.value):
        yield Hit("result_forging", node, "the completion's process can print this", (key,))


def _state(node: ast.Assign | ast.AugAssign, scope: Scope) -> Iterator[Hit]:
    """Suspicions about writing to what outlives the call."""
    if not isinstance(scope.node, Function):
        return
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        name = target.value.id
        if name not in _own(scope) and scope.flow.is_global(name):
            yield Hit("state_leak", node, f"`{name}` outlives the call")
    elif isinstance(target, ast.Name) and any(
        isinstance(one, ast.Global) and target.id in one.names for one in scope.nodes()
    ):
        yield Hit("state_leak", node, f"`{target.id}` outlives the call")


def _own(scope: Scope) -> set[str]:
    """Names that the scope binds itself."""
    bound = {
        one.id
        for one in scope.nodes()
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    if isinstance(scope.node, Function):
        spec = scope.node.args
        bound |= {one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    return bound


def _shared_state(scope: Scope) -> Iterator[Hit]:
    if not isinstance(scope.node, Function):
        return
    own = _own(scope)
    for node in scope.nodes():
        base = owner_of(node, "append", "add", "update", "setdefault", "extend")
        if isinstance(base, ast.Name) and base.id not in own and scope.flow.is_global(base.id):
            yield Hit("state_leak", node, f"`{base.id}` outlives the call")
    yield from _mutable(scope)


def _mutable(scope: Scope) -> Iterator[Hit]:
    """Suspicions about arguments that the completion was given and that are used again."""
    given: dict[str, int] = {}
    for node in scope.nodes():
        if not isinstance(node, ast.Call):
            continue
        texts = {
            ast.unparse(one.value if isinstance(one, ast.Starred) else one)
            for one in node.args
            if isinstance(one, (ast.Name, ast.Subscript, ast.Starred))
        }
        if _is_run(node, scope):
            given.update(dict.fromkeys(texts, node.lineno))
        elif name_of_call(node) in _LOOKING:
            continue
        elif any(given.get(text, node.lineno) < node.lineno for text in texts):
            yield Hit("expected_mutable", node, "the completion may have changed this")
            return


def _skips(node: ast.For, scope: Scope) -> Iterator[Hit]:
    """Suspicions about cases that raise and are left out of the count."""
    if COMPLETION in scope.of(node.iter) and MANY in scope.of(node.iter):
        return
    for one in node.body:
        if not isinstance(one, ast.Try):
            continue
        lists = {
            owner.id
            for part in ast.walk(one)
            if isinstance(owner := owner_of(part, "append"), ast.Name)
        }
        for handler in one.handlers:
            if not all(isinstance(part, (ast.Pass, ast.Continue)) for part in handler.body):
                continue
            if any(_judged_whole(other, lists) for other in scope.nodes()):
                yield Hit("vacuous_cases", handler, "a case that raises is left out of the count")


def _judged_whole(node: ast.AST, lists: set[str]) -> bool:
    """Tell whether `all(xs)` or `sum(xs) / len(xs)` of such a list is the verdict."""
    if name_of_call(node) not in ("all", "len", "mean"):
        return False
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return bool(names & lists)


def _timing(scope: Scope) -> Iterator[Hit]:
    clocks = calls_of(scope.nodes(), *_CLOCKS)
    runs = [node for node in scope.nodes() if isinstance(node, ast.Call) and _is_run(node, scope)]
    if len(clocks) >= 2 and runs:
        yield Hit("timer_tampering", clocks[0], "the clock is read in the completion's process")
