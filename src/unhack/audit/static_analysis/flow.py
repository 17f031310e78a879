"""Data flow in a verifier's source: what derives from the completion, what from the right answer.

Covered: assignments, unpacking, loops, comprehensions, calls of functions of the same source (each
with the labels of its call), closures, f-strings, methods, and what was decided by a comparison.
Not covered: the order of statements, attributes of objects one by one, and other files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unhack.audit.static_analysis.labels import (
    BATCH,
    COMPLETION,
    DIFFERENCE,
    FLOAT,
    GOLD,
    INPUT,
    LENGTH,
    LOADED,
    MANY,
    MATCH,
    NOTHING,
    PROCESS,
    RESULT,
    STATUS,
    STDOUT,
    VERDICTS,
    Function,
    Labels,
    element,
    entry_of,
    is_argv,
    judge_labels,
    label_of_key,
    labels_of,
    name_of_call,
    parameters,
    plain,
    result_of,
)
from unhack.audit.static_analysis.roots import (
    constant_names,
    home_of,
    module_value,
    named_lambdas,
    pairs_behind,
    roots,
)

_PASSES, _DEPTH = 5, 12
_SIDES = frozenset({COMPLETION, GOLD})


@dataclass
class Scope:
    """A function of the source under one labelling of its parameters."""

    node: Function | ast.Module
    flow: Flow
    outer: Scope | None = None
    names: dict[str, Labels] = field(default_factory=dict[str, Labels])
    returned: Labels = NOTHING
    root: bool = False

    @property
    def batch(self) -> bool:
        """True when it is called with many completions at once."""
        return any(BATCH in labels for labels in self.names.values())

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of its body, without those of functions defined in it."""
        waiting: list[ast.AST] = list(reversed(self.node.body))
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, (Function, ast.ClassDef)):
                waiting.extend(reversed(list(ast.iter_child_nodes(node))))

    def look(self, name: str) -> Labels:
        """Labels of a name."""
        if name in self.names:
            return self.names[name]
        return self.outer.look(name) if self.outer is not None else NOTHING

    def of(self, node: ast.expr | None) -> Labels:
        """Labels of an expression."""
        return NOTHING if node is None else self.flow.value(node, self)

    def constant(self, node: ast.AST | None) -> object:
        """Value of a constant expression; None where it is not one."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.constant(node.operand)
            return -value if isinstance(value, (int, float)) else None
        if isinstance(node, ast.Name):
            return self.flow.constant(node.id, self)
        return None


class Flow:
    """The data flow of a whole source."""

    def __init__(self, tree: ast.Module, entry: str = "") -> None:
        self.functions: dict[str, Function] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, Function):
                self.functions.setdefault(node.name, node)
        self.functions.update(named_lambdas(tree, self.parents))
        self._constants = constant_names(tree)
        self._scopes: dict[tuple[ast.AST, tuple[tuple[str, Labels], ...]], Scope] = {}
        self._depth = 0
        self.module = Scope(tree, self)
        self._settle(self.module)
        for function in roots(tree, self.functions, entry=entry.rpartition(".")[2]):
            self.enter(function, labels_of(function), self.module).root = True

    def is_global(self, name: str) -> bool:
        """Tell whether the module binds the name to something that can change."""
        bound = self.bound(name)
        return isinstance(bound, (ast.Dict, ast.List, ast.Set, ast.Call, ast.DictComp))

    def bound(self, name: str) -> ast.expr:
        """The first value that the module binds a name to; an empty tuple when there is none."""
        return module_value(self.module.node.body, name)

    @property
    def scopes(self) -> list[Scope]:
        """The module first, then every function under every labelling that it is called with."""
        return [self.module, *self._scopes.values()]

    def constant(self, name: str, scope: Scope) -> object:
        """Value of a name that is only ever bound to one constant."""
        node: ast.AST | None = scope.node
        while node is not None:
            if (node, name) in self._constants:
                return self._constants[node, name]
            node = self.parents.get(node)
        return None

    def enter(self, function: Function, labels: Mapping[str, Labels], outer: Scope) -> Scope:
        """The scope of a function under a labelling."""
        key = (function, tuple(sorted(labels.items())))
        scope = self._scopes.get(key)
        if scope is None:
            scope = Scope(function, self, outer, dict(labels))
            self._scopes[key] = scope
            if self._depth < _DEPTH:
                self._depth += 1
                self._settle(scope)
                self._depth -= 1
        return scope

    def _settle(self, scope: Scope) -> None:
        for _ in range(_PASSES):
            before = (dict(scope.names), scope.returned)
            self._block(scope.node.body, scope, NOTHING)
            if (scope.names, scope.returned) == before:
                return

    def _block(self, body: Sequence[ast.stmt], scope: Scope, control: Labels) -> None:
        for node in body:
            self._statement(node, scope, control)

    def _statement(self, node: ast.stmt, scope: Scope, control: Labels) -> None:
        match node:
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, node.value, scope, control)
            case ast.AnnAssign() if node.value is not None:
                self._bind(node.target, node.value, scope, control)
            case ast.AugAssign():
                self._add(node.target, self.value(node.value, scope) | control, scope)
            case ast.Return():
                scope.returned |= scope.of(node.value) | control
            case ast.Expr():
                self._effect(node.value, scope, control)
            case ast.If() | ast.While():
                inner = control | (judge_labels(self.value(node.test, scope)) & VERDICTS)
                self._block(node.body, scope, inner)
                self._block(node.orelse, scope, inner)
            case ast.For() | ast.AsyncFor():
                self._loop(node.target, node.iter, scope)
                self._block([*node.body, *node.orelse], scope, control)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, item.context_expr, scope, control)
                    else:
                        self.value(item.context_expr, scope)
                self._block(node.body, scope, control)
            case ast.Try():
                for part in (node.body, *(one.body for one in node.handlers)):
                    self._block(part, scope, control)
                self._block([*node.orelse, *node.finalbody], scope, control)
            case ast.Match():
                for case in node.cases:
                    self._block(case.body, scope, control)
            case _:
                pass

    def _effect(self, node: ast.expr, scope: Scope, control: Labels) -> None:
        labels = self.value(node, scope)
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.Yield):
                scope.returned |= labels | control
            return
        if name_of_call(node) == "exec" and len(node.args) > 1 and COMPLETION in labels:
            for space in node.args[1:]:
                if isinstance(space, ast.Name):
                    self._add(space, frozenset({COMPLETION, LOADED}), scope)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in (
            *("append", "extend", "add", "insert", "update", "setdefault", "put"),
        ):
            given = [plain(self.value(one, scope)) for one in node.args]
            self._add(node.func.value, frozenset[str]().union(control, *given), scope)

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope, control: Labels) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for one, part in zip(target.elts, value.elts, strict=True):
                    self._bind(one, part, scope, control)
                return
            labels = element(self.value(value, scope))
            for at, one in enumerate(target.elts):
                own = labels
                if is_argv(value):
                    own = frozenset({COMPLETION if at == 0 else GOLD})
                self._add(one, own | control, scope)
            return
        self._add(target, self.value(value, scope) | control, scope)

    def _add(self, target: ast.expr, labels: Labels, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = scope.names.get(target.id, NOTHING) | labels
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self._add(one, labels, scope)
        elif isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
            base = target.value
            if isinstance(base, ast.Name) and base.id not in ("self", "cls"):
                self._add(base, plain(labels), scope)

    def _loop(self, target: ast.expr, over: ast.expr, scope: Scope) -> None:
        over = pairs_behind(over, scope.nodes()) if isinstance(target, ast.Tuple) else over
        name = name_of_call(over) if isinstance(over, ast.Call) else ""
        arguments = over.args if isinstance(over, ast.Call) else []
        if isinstance(target, ast.Tuple) and name in ("zip", "zip_longest"):
            self.value(over, scope)
            for one, given in zip(target.elts, arguments, strict=False):
                self._add(one, element(self.value(given, scope)), scope)
        elif isinstance(target, ast.Tuple) and name == "enumerate" and len(target.elts) == 2:
            self._loop(target.elts[1], arguments[0], scope)
        else:
            labels = element(self.value(over, scope))
            elements = target.elts if isinstance(target, ast.Tuple) else []
            if len(elements) == 2 and labels & {GOLD} and name != "items":
                self._add(elements[0], labels - {GOLD} | {INPUT}, scope)
                self._add(elements[1], labels, scope)
            else:
                self._add(target, labels, scope)

    def value(self, node: ast.expr, scope: Scope) -> Labels:
        """Labels of an expression in a scope."""
        match node:
            case ast.Name():
                return scope.look(node.id)
            case ast.Constant() | ast.Lambda():
                return NOTHING
            case ast.Call():
                return self._call(node, scope)
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.Subscript():
                return self._subscript(node, scope)
            case ast.BinOp():
                return self._arithmetic(node, scope)
            case ast.Compare():
                sides = [self.value(one, scope) for one in (node.left, *node.comparators)]
                return judge_labels(frozenset[str]().union(*sides))
            case ast.UnaryOp():
                labels = self.value(node.operand, scope)
                return judge_labels(labels) if isinstance(node.op, ast.Not) else labels
            case ast.NamedExpr():
                labels = self.value(node.value, scope)
                self._add(node.target, labels, scope)
                return labels
            case ast.IfExp():
                test = judge_labels(self.value(node.test, scope)) & VERDICTS
                return self.value(node.body, scope) | self.value(node.orelse, scope) | test
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case ast.Await() | ast.Starred() | ast.FormattedValue():
                return self.value(node.value, scope)
            case _:
                parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
                union = frozenset[str]().union(*(self.value(one, scope) for one in parts))
                many = {MANY} if isinstance(node, (ast.List, ast.Set)) else set[str]()
                return union if isinstance(node, ast.BoolOp) else plain(union) | many

    def _arithmetic(self, node: ast.BinOp, scope: Scope) -> Labels:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        both = (left | right) - {MATCH, STDOUT, STATUS}
        if isinstance(node.op, ast.Sub) and not (left | right) & {LENGTH, MANY}:
            sides = (left & _SIDES, right & _SIDES)
            if frozenset({COMPLETION}) in sides and frozenset({GOLD}) in sides:
                return both | {DIFFERENCE}
        return both

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
    ) -> Labels:
        labels = NOTHING
        for part in node.generators:
            labels |= self.value(part.iter, scope) & {BATCH}
            self._loop(part.target, part.iter, scope)
            for test in part.ifs:
                labels |= judge_labels(self.value(test, scope)) & VERDICTS
        if isinstance(node, ast.DictComp):
            return labels | plain(self.value(node.key, scope) | self.value(node.value, scope))
        kept = self.value(node.elt, scope) - {MATCH, MANY}
        return labels | kept | {MANY}

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Labels:
        labels = self.value(node.value, scope)
        if PROCESS in labels:
            if node.attr in ("stdout", "stderr", "output"):
                return frozenset({COMPLETION, STDOUT})
            if node.attr == "returncode":
                return frozenset({COMPLETION, STATUS})
        base = node.value
        if isinstance(base, ast.Name) and base.id in ("args", "opts", "options") and not labels:
            key = label_of_key(node.attr)
            if not key and ("solution" in node.attr or "candidate" in node.attr):
                key = COMPLETION
            return frozenset({COMPLETION if node.attr == "solution" else key} - {""})
        return plain(labels) | (labels & {LOADED, PROCESS, RESULT, FLOAT})

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Labels:
        labels = self.value(node.value, scope)
        if is_argv(node.value):
            at = scope.constant(node.slice)
            return frozenset({COMPLETION if at == 1 else GOLD} if isinstance(at, int) else ())
        if isinstance(node.slice, ast.Slice):
            return labels - {MATCH}
        return entry_of(labels, scope.constant(node.slice))

    def _call(self, node: ast.Call, scope: Scope) -> Labels:
        name = name_of_call(node)
        given = [self.value(one, scope) for one in node.args]
        named = {one.arg: self.value(one.value, scope) for one in node.keywords}
        base = NOTHING
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value, scope)
        elif not isinstance(node.func, ast.Name):
            base = self.value(node.func, scope)
        elif LOADED in scope.look(node.func.id):
            return frozenset({COMPLETION, RESULT})
        if LOADED in base and name not in ("get", "exec_module", "pop"):
            return frozenset({COMPLETION, RESULT})
        if name == "get" and node.args and not base & {LOADED}:
            return entry_of(base, scope.constant(node.args[0]))
        local = self._local(node, base)
        if local is None:
            return result_of(name, base, given=given, named=list(named.values()))
        for one in [*node.args, *(item.value for item in node.keywords)]:
            if isinstance(one, ast.Name) and one.id in self.functions and not local.args.args:
                self.value(one, scope)
        return self._inside(local, given, named, scope=scope)

    def _local(self, node: ast.Call, base: Labels) -> Function | None:
        function = self.functions.get(name_of_call(node))
        if isinstance(node.func, ast.Name):
            return function
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            return function if node.func.value.id in ("self", "cls") else None
        return None

    def _inside(
        self,
        function: Function,
        given: Sequence[Labels],
        named: Mapping[str | None, Labels],
        *,
        scope: Scope,
    ) -> Labels:
        names = [one.arg for one in parameters(function)]
        labels = dict.fromkeys(names, NOTHING)
        labels.update(zip(names, given, strict=False))
        labels.update({key: value for key, value in named.items() if key in labels})
        outer: Scope | None = scope
        while outer is not None and outer.node is not home_of(function, self.parents):
            outer = outer.outer
        return self.enter(function, labels, outer or self.module).returned
