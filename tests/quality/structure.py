"""The structure of the source tree in figures: rooms, names, docstrings, late imports.

    python tests/quality/structure.py [FOLDER ...]

prints them for packages (default: those of every distribution), so that two states of the tree can
be compared. Covered: every module. Not covered: import circles and layers, which import-linter
checks; data (see `source_roots`).
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

if __package__:
    from .source_roots import ROOT, modules_of, source_roots
else:  # run as a program
    from source_roots import ROOT, modules_of, source_roots

PACKAGE = ROOT / "src" / "unhack"
VAGUE_FIRST_WORDS = ("What", "Who", "Whose", "Whether", "Where")
LATE_ROOMS = ("cli", "integrations")
"""Rooms in which a late import of ours needs no reason: they start fast, they name other people's
packages."""
MAX_SIBLINGS = 16
_OURS = {folder.name for folder in source_roots()}
_REASON = re.compile(r"#\s*(?!noqa|type:|pyright:)\S.{7,}")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def siblings(package: Path) -> dict[str, int]:
    """Folder -> how many modules and packages stand in it, the largest first."""
    found: Counter[str] = Counter()
    folders = {path.parent for path in modules_of(package)}
    for folder in folders:
        files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        rooms = [inner for inner in folders if inner.parent == folder]
        found[str(folder.relative_to(package))] = len(files) + len(rooms)
    return dict(found.most_common())


def shared_class_names(packages: Iterable[Path]) -> dict[str, list[str]]:
    """Public class name -> the files that define it, where there are several."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    files = [(path, package.parent) for package in packages for path in modules_of(package)]
    for path, above in files:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(above)))
    return {name: files for name, files in sorted(homes.items()) if len(set(files)) > 1}


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring of a module, those of fields and constants included."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, Documented):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text
            for before, after in zip(node.body, node.body[1:], strict=False):
                if isinstance(before, (ast.AnnAssign, ast.Assign)) and _is_text(after):
                    yield after.lineno, ast.literal_eval(after.value).strip()  # type: ignore[attr-defined]


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def first_words(package: Path) -> Counter[str]:
    """How many docstrings begin with each word."""
    return Counter(
        text.split()[0] for path in modules_of(package) for _, text in docstrings(path) if text
    )


def late_imports(package: Path, *, unexplained: bool = True) -> list[str]:
    """Imports of our own inside functions, outside of the rooms that may: file and line.

    `unexplained` leaves out those with a reason: a comment on the line, or above the imports that
    it stands among.
    """
    found: list[str] = []
    for path in modules_of(package):
        name = path.relative_to(package)
        if name.parts[0] in LATE_ROOMS:
            continue
        source = path.read_text()
        lines = source.splitlines()
        for function in ast.walk(_tree(path)):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in ast.walk(function):
                if not _is_ours(node):
                    continue
                first = node.lineno - 1  # type: ignore[attr-defined]
                while first and lines[first - 1].lstrip().startswith(("from ", "import ")):
                    first -= 1
                beside = lines[max(first - 1, 0) : node.end_lineno]  # type: ignore[attr-defined]
                if not (unexplained and any(_REASON.search(line) for line in beside)):
                    found.append(f"{name}:{node.lineno}")  # type: ignore[attr-defined]
    return sorted(set(found))


def _is_ours(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in _OURS
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return any(name.partition(".")[0] in _OURS for name in names)


def code_in_init(package: Path) -> dict[str, list[str]]:
    """`__init__.py` -> the statements that do more than hand names on."""
    found: dict[str, list[str]] = {}
    for path in modules_of(package):
        if path.name == "__init__.py":
            rest = [ast.unparse(node).splitlines()[0] for node in _doing(_tree(path))]
            if rest:
                found[str(path.relative_to(package))] = rest
    return found


def _doing(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        handing = isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node)
        if isinstance(node, ast.If):
            handing = ast.unparse(node.test) == "TYPE_CHECKING"
        elif isinstance(node, ast.Assign):
            handing = ast.unparse(node.targets[0]) in ("__all__", "_HOMES")
        elif isinstance(node, ast.FunctionDef):
            handing = node.name == "__getattr__"
        if not handing:
            yield node


def public_names(package: Path) -> list[str]:
    """`unhack.__all__`."""
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def main() -> None:
    """Print the figures."""
    packages = [Path(one).resolve() for one in sys.argv[1:]] or source_roots()
    for package in packages:
        show(package)
    shared = shared_class_names(packages)
    print(f"class names in several files: {len(shared)}", *shared)
    print(f"public names: {len(public_names(PACKAGE))}")


def show(package: Path) -> None:
    """Print the figures of one package."""
    print(f"== {package.name}")
    files = modules_of(package)
    sizes = [len(path.read_text().splitlines()) for path in files]
    words = first_words(package)
    vague = {word: words[word] for word in VAGUE_FIRST_WORDS}
    late = late_imports(package, unexplained=False)
    print(f"files {len(files)}, lines {sum(sizes)}, longest {max(sizes)}")
    print("siblings", {name: count for name, count in siblings(package).items() if count > 11})
    print(f"docstrings {words.total()}, vague first words {sum(vague.values())}: {vague}")
    print(f"late imports of ours outside {LATE_ROOMS}: {len(late)}, "
          f"without a reason {len(late_imports(package))}")  # fmt: skip
    print(
        f"code in __init__: {sum(map(len, code_in_init(package).values()))} statements",
        *code_in_init(package),
    )


if __name__ == "__main__":
    main()
