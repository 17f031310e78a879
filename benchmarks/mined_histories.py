"""Local git histories with known answers, made of successive releases of real packages.

Releases are committed in order. On top of the last one features are taken out and added back: the
second commit of such a pair is a task by construction, and so are the tests that it has to name.
Between them stand commits that are none: other comments and a new test that always passes, a
renamed local variable likewise, new code whose test depends on the time zone, the hash seed or the
order of the tests.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
UNSTEADY = {
    "zone": "import time\n    assert {module}.ADDED_{n} and time.tzname[0] == 'UTC'\n",
    "hash": "words = [str(i) for i in range(60)]\n"
    "    assert {module}.ADDED_{n} and sum(hash(w) & 1 for w in words) % 2 == 0\n",
    "order": "assert {module}.ADDED_{n} and not hasattr({module}, 'SEEN_{n}')\n\n\n"
    "def test_second_{n}():\n    import {module}\n\n    {module}.SEEN_{n} = True\n\n\n"
    "def test_third_{n}():\n    import {module}\n\n    {module}.SEEN_{n} = True\n",
}


@dataclass
class History:
    """A repository and what is known of its commits."""

    folder: Path
    releases: list[str] = field(default_factory=list)
    wanted: dict[str, set[str]] = field(default_factory=dict)
    """Commit that adds a feature back -> names of the test functions that it adds back."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Commit -> `hollow`, `removed`, or the kind of a commit that is no task."""
    none: set[str] = field(default_factory=set)
    """Commits that are no tasks."""

    def commit(self, message: str) -> str:
        """Commit all that has changed; its id."""
        run_git(self.folder, "add", "-A", "-f")
        run_git(self.folder, "commit", "-q", "--allow-empty", "-m", message)
        return run_git(self.folder, "rev-parse", "HEAD")


def run_git(folder: Path, *words: str) -> str:
    """The output of git in a folder that this program made."""
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENVIRON, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def build(name: str, archives: list[Path], folder: Path, *, pairs: int, seed: int) -> History:
    """The history of one package; `pairs` of removals and additions of each of two kinds."""
    folder.mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "main")
    history = History(folder)
    for archive in archives:
        _unpack(archive, folder)
        history.releases.append(history.commit(archive.name))
    picker = random.Random(f"{name} {seed}")
    features = _features(folder, name)
    picker.shuffle(features)
    made = {"hollow": 0, "removed": 0}
    for feature in features:
        for kind in ("removed", "hollow"):
            if made[kind] < pairs and _pair(history, feature, kind, count=sum(made.values())):
                made[kind] += 1
                _decoy(history, features, sum(made.values()), picker)
                break
    return history


def _unpack(archive: Path, folder: Path) -> None:
    for path in folder.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with tarfile.open(archive) as tar:
        tar.extractall(folder / ".git" / "new", filter="data")
    [top] = (folder / ".git" / "new").iterdir()
    for path in list(top.iterdir()):
        if not path.name.endswith((".egg-info", ".git")):
            shutil.move(path, folder / path.name)
    shutil.rmtree(folder / ".git" / "new")


@dataclass(frozen=True)
class Feature:
    """A function of a module and the tests that call it."""

    module: Path
    name: str
    tests: dict[Path, list[str]]
    """Test file -> names of test functions."""


def _features(folder: Path, package: str) -> list[Feature]:
    """Public functions of the package that one to six test functions in up to two files call."""
    tests = {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("test_*.py"))}
    found: list[Feature] = []
    top = package.replace("-", "_")
    for module in sorted(folder.rglob("*.py")):
        inside = module.relative_to(folder).parts
        if inside[0] == "src":
            inside = inside[1:]
        if inside[0] not in (top, f"{top}.py") or any("test" in part for part in inside):
            continue
        for node in ast.parse(module.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                users = {path: _users(tree, node.name) for path, tree in tests.items()}
                users = {path: names for path, names in users.items() if names}
                count = sum(map(len, users.values()))
                if len(node.name) > 3 and len(users) in (1, 2) and 1 <= count <= 6:
                    found.append(Feature(module, node.name, users))
    return found


def _users(tree: ast.Module, name: str) -> list[str]:
    """Test functions at the top of a file, or in its classes, that mention a name."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    return [
        node.name
        for body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test")
        and any(
            (isinstance(one, ast.Name) and one.id == name)
            or (isinstance(one, ast.Attribute) and one.attr == name)
            for one in ast.walk(node)
        )
    ]  # fmt: skip


def _pair(history: History, feature: Feature, kind: str, *, count: int) -> bool:
    """Take a feature out and add it back; False where its text does not allow it."""
    paths = [feature.module, *feature.tests]
    if kind == "removed":
        paths += [path for path in history.folder.rglob("__init__.py") if path not in paths]
    before = {path: path.read_text() for path in paths}
    if not (_take_out if kind == "removed" else _hollow)(history.folder, feature):
        for path, text in before.items():
            path.write_text(text)
        return False
    history.none.add(taken := history.commit(f"step {count} a"))
    history.kinds[taken] = "taken out"
    for path, text in before.items():
        path.write_text(text)
    added = history.commit(f"step {count} b")
    history.wanted[added] = {name for names in feature.tests.values() for name in names}
    history.kinds[added] = kind
    return True


def _hollow(folder: Path, feature: Feature) -> bool:
    """Leave the signature of the function alone, and drop its tests."""
    del folder
    text = feature.module.read_text()
    node = _function(text, feature.name)
    first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
    lines = text.splitlines(keepends=True)
    indent = " " * first.col_offset
    if first.lineno == node.lineno:
        return False
    lines[first.lineno - 1 : node.end_lineno] = [f"{indent}raise NotImplementedError\n"]
    feature.module.write_text("".join(lines))
    return _drop_tests(feature, imports=False)


def _take_out(folder: Path, feature: Feature) -> bool:
    """Remove the function, its name in lists and imports, and its tests."""
    text = feature.module.read_text()
    node = _function(text, feature.name)
    feature.module.write_text(_without(text, [node]))
    word = re.compile(rf"\b{feature.name}\b")
    for path in [feature.module, *folder.rglob("__init__.py")]:
        content = path.read_text()
        content = re.sub(rf"""(['"]){feature.name}\1,?[ ]?""", "", content)
        path.write_text(_without_import(content, feature.name))
        if word.search(_code_only(path.read_text())):
            return False
    others = [path for path in feature.module.parent.rglob("*.py") if "test" not in path.name]
    if any(word.search(_code_only(path.read_text())) for path in others):
        return False
    return _drop_tests(feature, imports=True)


def _drop_tests(feature: Feature, *, imports: bool) -> bool:
    for path, names in feature.tests.items():
        text = path.read_text()
        tree = ast.parse(text)
        gone: list[ast.stmt] = []
        for body in (tree.body, *(n.body for n in tree.body if isinstance(n, ast.ClassDef))):
            chosen = [n for n in body if isinstance(n, ast.FunctionDef) and n.name in names]
            if len(chosen) == len(body):
                return False
            gone += chosen
        text = _without(text, gone)
        if imports:
            text = _without_import(text, feature.name)
            if re.search(rf"\b{feature.name}\b", _code_only(text)):
                return False
        path.write_text(text)
    return True


def _function(text: str, name: str) -> ast.FunctionDef:
    return next(
        n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name
    )


def _without(text: str, nodes: list[ast.stmt]) -> str:
    lines = text.splitlines(keepends=True)
    for node in sorted(nodes, key=lambda n: -n.lineno):
        marks = getattr(node, "decorator_list", [])
        start = min([node.lineno, *(mark.lineno for mark in marks)])
        del lines[start - 1 : node.end_lineno]
    return "".join(lines)


def _without_import(text: str, name: str) -> str:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and any(one.name == name for one in node.names):
            node.names = [one for one in node.names if one.name != name]
            lines = text.splitlines(keepends=True)
            indent = " " * node.col_offset
            new = f"{indent}{ast.unparse(node)}\n" if node.names else f"{indent}pass\n"
            lines[node.lineno - 1 : node.end_lineno] = [new]
            return _without_import("".join(lines), name)
    return text


def _code_only(text: str) -> str:
    """A module without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body[0] = ast.Pass()
    return ast.unparse(tree)


def _decoy(history: History, features: list[Feature], count: int, picker: random.Random) -> None:
    """A commit that is no task."""
    feature = picker.choice(features)
    path = next(iter(feature.tests))
    dotted = feature.module.relative_to(history.folder).with_suffix("").as_posix()
    module = dotted.removeprefix("src/").removesuffix("/__init__").replace("/", ".")
    head = f"\n\ndef test_more_{count}():\n    import {module}\n\n    "
    makers: tuple[Callable[[], str], ...] = (
        lambda: _comment(feature, count),
        lambda: _rename(feature, count),
        *(lambda kind=kind: _unsteady(feature, kind, count, module) for kind in UNSTEADY),
    )
    kinds = ("comment", "rename", *UNSTEADY)
    place = (count - 1) % len(makers)
    kind = kinds[place]
    body = makers[place]()
    path.write_text(path.read_text().rstrip("\n") + "\n" + head + body)
    history.none.add(made := history.commit(f"step {count} c"))
    history.kinds[made] = kind


def _comment(feature: Feature, count: int) -> str:
    text = feature.module.read_text()
    feature.module.write_text(text.rstrip("\n") + f"\n# Note {count}.\n")
    return "assert True\n"


def _rename(feature: Feature, count: int) -> str:
    """Add a constant that nothing uses; the test passes with and without it."""
    text = feature.module.read_text()
    feature.module.write_text(text.rstrip("\n") + f"\n\n_SPARE_{count} = {count}\n")
    return f"assert callable({_dotted(feature)})\n"


def _dotted(feature: Feature) -> str:
    parts = list(feature.module.with_suffix("").parts)
    at = len(parts) - 1
    while (Path(*parts[:at]) / "__init__.py").is_file():
        at -= 1
    return ".".join([*(one for one in parts[at:] if one != "__init__"), feature.name])


def _unsteady(feature: Feature, kind: str, count: int, module: str) -> str:
    text = feature.module.read_text()
    feature.module.write_text(text.rstrip("\n") + f"\n\nADDED_{count} = True\n")
    return UNSTEADY[kind].format(module=module, n=count)
