"""Every public class shows in its docstring how it is made or read, with names that it has."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

import pytest
from published import Parameters, PublicClass, parameters_of, public_classes, public_functions

MARK = "\nExample:\n\n"
MOST_LINES = 5


def example_of(owner: PublicClass) -> str:
    """The code of a class's example; empty where there is none."""
    text = ast.get_docstring(owner.node) or ""
    _, _, after = text.partition(MARK)
    lines: list[str] = []
    for line in after.splitlines():
        if line.strip() and not line.startswith("    "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines)).strip("\n").replace("…", "...")


class Reader:
    """Reads one example, and collects what it says of our names that is not so."""

    def __init__(self, owner: PublicClass) -> None:
        self.owner = owner
        self.known = {one.name: one for one in public_classes().values()} | {owner.name: owner}
        self.types: dict[str, PublicClass] = {}
        self.complaints: list[str] = []
        self.shown = False
        """True once the example uses the class or a member of it."""

    def read(self, code: str) -> list[str]:
        tree = ast.parse(code)
        for one in ast.walk(tree):
            self.bind(one)
        for one in ast.walk(tree):
            self.check(one)
        if not self.shown:
            self.complaints.append(f"the example does not show {self.owner.name}")
        return self.complaints

    def bind(self, node: ast.AST) -> None:
        """Remember the class of a name that is assigned or entered."""
        pairs: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.With | ast.AsyncWith):
            pairs = [(item.optional_vars, item.context_expr) for item in node.items]
        for target, value in pairs:
            found = self.type_of(value)
            if isinstance(target, ast.Name) and found is not None:
                self.types[target.id] = found

    def type_of(self, node: ast.expr) -> PublicClass | None:
        """The public class of an expression's value, where the source says it."""
        match node:
            case ast.Await(value=value):
                return self.type_of(value)
            case ast.Name(id=name):
                return self.types.get(name)
            case ast.Call(func=ast.Name(id=name)) if name in self.known:
                return self.known[name]
            case ast.Call(func=ast.Name(id=name)):
                several = public_functions().get(name, ())
                return self.named(several[0].returns) if len(several) == 1 else None
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return self.type_of_member(self.type_of(value), name, called=True)
            case ast.Attribute(value=value, attr=name):
                return self.type_of_member(self.type_of(value), name, called=False)
            case _:
                return None

    def type_of_member(
        self, holder: PublicClass | None, name: str, *, called: bool
    ) -> PublicClass | None:
        member = holder.members().get(name) if holder else None
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            is_property = "property" in map(ast.unparse, member.decorator_list)
            return self.named(member.returns) if is_property is not called else None
        return None if called else self.named(member)

    def named(self, annotation: ast.expr | None) -> PublicClass | None:
        """The class that an annotation `Name` or `Name | None` names."""
        text = ast.unparse(annotation).removesuffix(" | None") if annotation else ""
        return self.known.get(text.rpartition(".")[2])

    def check(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name) if name == self.owner.name:
                self.shown = True
            case ast.Constant(value=str(text)) if self.owner.name in text:
                self.shown = True
            case ast.Attribute(value=value, attr=name):
                self.check_attribute(value, name)
            case ast.Call():
                self.check_call(node)
            case ast.ClassDef() if "Protocol" in self.owner.bases:
                self.check_implementation(node)
            case _:
                pass

    def check_attribute(self, value: ast.expr, name: str) -> None:
        holder = self.type_of(value)
        if isinstance(value, ast.Name) and value.id in self.known and value.id not in self.types:
            holder = self.known[value.id]
        self.shown |= name in self.owner.members()
        if holder is not None and name not in holder.members() and not holder.is_open:
            self.complaints.append(f"{holder.name} has no {name}")

    def check_call(self, call: ast.Call) -> None:
        wanted: list[Parameters] = []
        match call.func:
            case ast.Name(id=name) if name in self.known:
                wanted = [self.known[name].parameters()]
            case ast.Name(id=name):
                several = public_functions().get(name, ())
                wanted = [parameters_of(one, bound=False) for one in several]
            case ast.Attribute(value=value, attr=name):
                holder = self.type_of(value)
                member = holder.members().get(name) if holder else None
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    wanted = [parameters_of(member, bound=True)]
            case _:
                pass
        reasons = [reason for one in wanted for reason in [misfit(call, one)]]
        if reasons and all(reasons):
            self.complaints.append(f"{ast.unparse(call.func)}: {reasons[0]}")

    def check_implementation(self, made: ast.ClassDef) -> None:
        self.shown = True
        defined = PublicClass("", made).members().keys() | set(unpacked(made))
        strange = sorted(defined - self.owner.members().keys())
        self.complaints += [f"{self.owner.name} has no {name}" for name in strange]


def unpacked(made: ast.ClassDef) -> Iterator[str]:
    """The names of `a, b = 1, 2` in the body of a class."""
    for one in made.body:
        for target in one.targets if isinstance(one, ast.Assign) else ():
            if isinstance(target, ast.Tuple):
                yield from (ast.unparse(item) for item in target.elts)


def misfit(call: ast.Call, wanted: Parameters) -> str:
    """The reason why a call does not fit; empty where it does."""
    if any(isinstance(one, ast.Starred) for one in call.args):
        return ""
    named = {one.arg for one in call.keywords if one.arg}
    if not wanted.open and len(call.args) > len(wanted.positional):
        return f"takes {len(wanted.positional)} positional arguments"
    if not wanted.open and (strange := sorted(named - wanted.keywords)):
        return f"takes no {strange[0]}"
    given = named | set(wanted.positional[: len(call.args)])
    spread = any(one.arg is None for one in call.keywords)
    absent = sorted(wanted.required - given)
    return f"needs {absent[0]}" if absent and not spread else ""


@pytest.mark.parametrize("path", sorted(public_classes()))
def test_a_public_class_has_an_example_whose_names_exist(path: str) -> None:
    owner = public_classes()[path]
    code = example_of(owner)
    assert code, f"{path}: its docstring has no `Example:` with an indented block"
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES, f"{path}: {len(lines)} lines; show the least that helps"
    assert Reader(owner).read(code) == []


def test_the_pages_and_the_faces_name_many_classes_also_of_stacks_that_are_not_installed() -> None:
    assert len(public_classes()) > 100
    for path in (
        "unhack.core.verdict.Verdict",
        "unhack.audit.options.AuditOptions",
        "unhack.tournament.contests.registry.InstalledContest",
        "unhack.integrations.skyrl.TaskEnv",
    ):
        assert path in public_classes()


@pytest.mark.parametrize(
    ("name", "code", "complaint"),
    [
        ("unhack.sandbox.limits.Limits", "Limits(wall=1)", "takes no wall"),
        ("unhack.sandbox.limits.Limits", "x = Limits()\nx.wall", "Limits has no wall"),
        ("unhack.sandbox.limits.Limits", "Limits().with_(1)", ""),
        ("unhack.sandbox.pool.pool.Pool", "Pool(4)", "0 positional arguments"),
        ("unhack.sandbox.pool.pool.Pool", "with Pool() as p:\n    p.stop()", "Pool has no stop"),
        ("unhack.core.verdict.Status", "Status.SLOW", "Status has no SLOW"),
        ("unhack.core.problem.Problem", "Problem('a')", "needs prompt"),
        ("unhack.core.verdict.Usage", "1 + 1", "does not show Usage"),
        ("unhack.tasks.batch.Batch", "b = run_batch(t, c)\nb.reward", "Batch has no reward"),
        ("unhack.tasks.batch.Batch", "b = run_batch(t)\nb.rewards", "needs completions"),
        ("unhack.tournament.contest.NeedsCard", "class A:\n    def card(self): ...", "has no card"),
    ],
)
def test_an_example_that_names_what_is_not_there_is_complained_of(
    name: str, code: str, complaint: str
) -> None:
    found = Reader(public_classes()[name]).read(code)
    assert any(complaint in one for one in found) if complaint else found == []
