"""The verifier of test code: cases where every assert is constant, else a sealed script.

A script runs the tests as they are written, in a process of the judge, and the completion in
another: the names that the tests take from the completion are proxies there. What the tests' own
setup defines (helpers of a prompt, node classes) is the judge's copy, never the completion's.

Covered: `check(candidate)` and lists of asserts, entry points `name` and `Class().name`.
Not covered: tests that hand objects to the completion, such as linked lists; see `SealError`.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.core.completion import Extraction, extract_code, with_setup
from unhack.core.problem import Problem
from unhack.core.verdict import Seal
from unhack.tasks.loaders.asserts import NeedsScript, check_body, compile_asserts, compile_check
from unhack.tasks.loaders.options import LoadOptions
from unhack.verifiers.base import Steps, Verifier, no_code_verdict
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.script import Mode, ScriptVerifier
from unhack.verifiers.values.compare import Compare

CALL = "unhack_call"
"""The function put before a completion whose entry point is not a plain name."""


@dataclass(frozen=True, slots=True)
class CheckCode:
    """Trusted test code for one entry point."""

    entry: str
    """The name that is called: `name` or `Class().name`."""
    check: str = ""
    """Source that defines `check(candidate)`; or else `asserts`."""
    asserts: tuple[str, ...] = ()
    """Assert statements that call `entry` by its name."""
    setup: str = ""
    """Source that stands before the completion, and before the tests: imports, helpers."""

    def compile(self) -> tuple[Case, ...] | NeedsScript:
        """See `compile_check`. Raises SyntaxError, ValueError."""
        if self.check:
            return compile_check(self.check)
        return compile_asserts(self.asserts, call=self.entry)

    def statements(self) -> tuple[list[ast.stmt], ast.expr]:
        """The statements of the tests and the expression that they call. Raises SyntaxError,
        ValueError."""
        if self.check:
            return check_body(ast.parse(self.check))
        tree = ast.parse("\n".join(self.asserts))
        return tree.body, ast.parse(self.entry, mode="eval").body


def build_verifier(code: CheckCode, options: LoadOptions) -> Verifier:
    """The verifier of the tests. Raises SyntaxError, ValueError for test code that is none."""
    compiled = code.compile()
    if isinstance(compiled, NeedsScript):
        return build_script_verifier(code, options)
    return build_case_verifier(code.entry, compiled, options=options, setup=code.setup)


def build_case_verifier(
    entry: str, cases: tuple[Case, ...], *, options: LoadOptions, setup: str = ""
) -> FunctionVerifier:
    """Calls of `entry`; results are compared with Python's `==`."""
    setup = end_line(setup)
    if not entry.isidentifier():
        setup += f"def {CALL}(*args, **kwargs):\n    return {entry}(*args, **kwargs)\n"
        entry = CALL
    return FunctionVerifier(entry, cases, compare=Compare.EQUAL, setup=setup, **options.of_cases)


def build_script_verifier(code: CheckCode, options: LoadOptions) -> CheckVerifier:
    """The tests as they are written. Raises SyntaxError."""
    source = check_script(code)
    script = ScriptVerifier(
        source,
        mode=options.script_mode,
        preload=third_party(source),
        packages=options.preload,
        limits=options.limits,
        extraction=Extraction.RAW,
    )
    return CheckVerifier(script, setup=end_line(code.setup), extraction=options.extraction)


@dataclass(frozen=True)
class CheckVerifier:
    """A script or test files that judge completions with a setup before them."""

    script: ScriptVerifier | PytestVerifier
    setup: str = ""
    extraction: Extraction = Extraction.AUTO

    @property
    def kind(self) -> str:
        """That of the script."""
        return self.script.kind

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion."""
        source = extract_code(completion, how=self.extraction)
        if source is None:
            sealed = self.script.mode is Mode.SEALED
            seal = Seal.SEALED if sealed else Seal.AS_WRITTEN
            return no_code_verdict(completion, seal=seal)
        return (yield from self.script.verify(problem, with_setup(self.setup, source)))

    def canary(self) -> str:
        """A completion that defines nothing."""
        return self.script.canary()

    def canaries(self, problem: Problem) -> tuple[str, ...]:
        """Those of the script."""
        return self.script.canaries(problem)


_VERIFY = """

def verify(solution_path, test_cases_path):
    import solution as unhack_solution

    for name in {names!r}:
        if not hasattr(unhack_solution, name):
            return {{"score": 0.0, "reason": "the completion defines no " + name}}
        globals()[name] = getattr(unhack_solution, name)
    try:
        check({candidate})
    except AssertionError as error:
        return {{"score": 0.0, "reason": ("an assert failed: " + str(error)).rstrip(": ")}}
    except (ArithmeticError, AttributeError, LookupError) as error:
        return {{"score": 0.0, "reason": type(error).__name__ + ": " + str(error)}}
    except (TypeError, ValueError, RuntimeError) as error:
        return {{"score": 0.0, "reason": type(error).__name__ + ": " + str(error)}}
    return 1.0
"""
"""Other exceptions (a missing module, a name that the tests never define) leave the script: then
the control decides whose fault it is."""


def check_script(code: CheckCode) -> str:
    """A verifier script that runs `check`. Raises SyntaxError."""
    tree = ast.parse(code.check) if code.check else _wrap(code.asserts)
    tree.body = [node for node in tree.body if not _calls_check(node)]
    root = code.entry.partition("(")[0].partition(".")[0]
    free = _free_names(tree, ast.parse(code.setup)) - {root}
    imports = "".join(f"import {name}\n" for name in sorted(free & sys.stdlib_module_names))
    names = [root, *sorted(free - sys.stdlib_module_names)]
    candidate = code.entry
    if not code.entry.isidentifier():
        candidate = f"lambda *args, **kwargs: {code.entry}(*args, **kwargs)"
    verify = _VERIFY.format(names=names, candidate=candidate)
    return f"{end_line(code.setup)}{imports}\n{ast.unparse(tree)}\n{verify}"


def _wrap(asserts: Sequence[str]) -> ast.Module:
    tree = ast.parse("def check(candidate):\n    pass\n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = ast.parse("\n".join(asserts)).body
    return tree


def _calls_check(node: ast.stmt) -> bool:
    """True when a statement of the module runs the tests; the script does that itself."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="check"))):
            return True
        case _:
            return False


def needs_names(setup: str) -> bool:
    """True when the setup reads names that it must have from the completion. Raises SyntaxError."""
    return bool(_free_names(ast.parse(setup), ast.parse("")))


def _free_names(tests: ast.Module, setup: ast.Module) -> set[str]:
    """Names that the tests read, and that neither they nor the setup nor Python define."""
    read: set[str] = set()
    defined = {*dir(builtins), "__name__", "__file__"}
    for node in [*ast.walk(tests), *ast.walk(setup)]:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                defined.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                defined.add(name)
            case ast.ExceptHandler(name=str(name)):
                defined.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                defined |= {alias.asname or alias.name.partition(".")[0] for alias in aliases}
            case _:
                pass
    return (read - defined) & {node.id for node in ast.walk(tests) if isinstance(node, ast.Name)}


def third_party(source: str) -> tuple[str, ...]:
    """Modules outside the standard library that a script imports at its top level."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return tuple(sorted(found - sys.stdlib_module_names))


def end_line(source: str) -> str:
    """`source` with a newline at its end, so that more can follow."""
    return source if not source or source.endswith("\n") else source + "\n"
