"""A commit taken apart: the start state, the hidden tests, the reference.

Start state: the files of the parent, without what is built or cached, and so with the tests as they
were. Hidden tests: the test files of the commit that it changed, and a few that use the changed
modules. Reference: its changes to code. Changes to documents and packaging belong to neither.

Covered: commits that cannot make a task are refused with the reason before anything is run, also
those that change comments, docstrings or layout alone.
Not covered: links and submodules, which are left out of the start state.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from unhack.environments.sources.mining.paths import (
    PathKind,
    code_roots,
    is_test_file,
    kind_of,
    module_of,
)
from unhack.environments.sources.mining.paths import root_of as top_of
from unhack.sandbox.workspace.git_objects import Commit, GitObjects, TreeEntry


class CommitSkippedError(Exception):
    """A commit that makes no task; the text says why."""


@dataclass(frozen=True, slots=True)
class CommitLimits:
    """Bounds on the size of a commit."""

    code_files: int = 20
    """Code files that it changes."""
    code_lines: int = 1500
    """Lines of code that it adds and removes."""
    test_files: int = 12
    """Test files that it changes; the first ones by name are taken of more."""
    other_tests: int = 3
    """Unchanged test files that use the changed modules, run as well."""
    file_bytes: int = 1 << 20
    """Bytes of one file."""
    tree_bytes: int = 32 << 20
    """Bytes of the start state."""


@dataclass(frozen=True, slots=True)
class CommitParts:
    """The parts of a commit."""

    commit: Commit
    files: Mapping[str, bytes]
    """The start state."""
    executable: frozenset[str]
    tests: Mapping[str, str]
    """Test files and what stands beside them, as the commit has them: path -> text."""
    reference: Mapping[str, str | None]
    """Changed code; None for a deleted file."""
    editable: tuple[str, ...]
    changed_lines: int

    @property
    def test_files(self) -> tuple[str, ...]:
        """The hidden files that hold tests."""
        return tuple(path for path in sorted(self.tests) if is_test_file(path))

    def after(self) -> dict[str, bytes]:
        """The start state with the reference."""
        found = dict(self.files)
        for path, text in self.reference.items():
            found.pop(path, None)
            if text is not None:
                found[path] = text.encode(errors="surrogateescape")
        return found


def take_apart(
    git: GitObjects, commit: Commit, *, limits: CommitLimits, untested: bool = False
) -> CommitParts:
    """The parts of a commit; `untested` takes one that changes no test too, without hidden tests.
    Raises CommitSkippedError with the reason why it makes no task."""
    if not commit.parent:
        raise CommitSkippedError("it is the first commit")
    before, after = git.tree(commit.parent), git.tree(commit.id)
    code, tests = _changed(before, after)
    if not code:
        raise CommitSkippedError("no code is changed")
    if not any(is_test_file(path) and path in after for path in tests):
        tests = []
    if not tests and not untested:
        raise CommitSkippedError("no test file is changed with the code")
    if len(code) > limits.code_files:
        raise CommitSkippedError(f"{len(code)} code files are changed, over {limits.code_files}")
    kept = {path: one for path, one in before.items() if one.regular and _is_kept(path)}
    _check_sizes(kept, [after[path] for path in (*code, *tests) if path in after], limits)
    found = git.contents([one.id for one in kept.values()])
    files = {path: found[one.id] for path, one in kept.items()}
    reference = _texts(git, after, code)
    lines = _changed_lines(files, reference)
    if lines > limits.code_lines:
        raise CommitSkippedError(f"{lines} lines of code are changed, over {limits.code_lines}")
    if not _changes_meaning(files, reference):
        raise CommitSkippedError("only comments, docstrings or layout are changed")
    tested = _wanted_tests(after, tests, limits)
    rest = {path: one for path, one in after.items() if path not in tests}
    others = _tests_of(git, rest, reference, limits=limits) if tests else []
    hidden = {path: text or "" for path, text in _texts(git, after, [*tested, *others]).items()}
    roots = set(code_roots(files)) | {top_of(path) for path in reference}
    return CommitParts(
        commit,
        files,
        frozenset(path for path, one in kept.items() if one.mode == "100755"),
        hidden,
        reference,
        tuple(sorted(roots)),
        lines,
    )


def _is_kept(path: str) -> bool:
    return kind_of(path) is not PathKind.MADE and path.isascii() and path.isprintable()


def _changed(
    before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]
) -> tuple[list[str], list[str]]:
    """Changed code, with data inside its packages, and changed tests that are still there."""
    changed = sorted(
        path
        for path in {*before, *after}
        if before.get(path) != after.get(path) and _is_kept(path)
        and all(tree[path].regular for tree in (before, after) if path in tree)
    )  # fmt: skip
    packages = tuple(root for root in code_roots({*before, *after}) if root.endswith("/"))
    code = [
        path
        for path in changed
        if kind_of(path) is PathKind.CODE
        or (kind_of(path) is PathKind.ASIDE and path.startswith(packages) and packages)
    ]
    if not any(kind_of(path) is PathKind.CODE for path in code):
        code = []
    tests = [path for path in changed if kind_of(path) is PathKind.TEST and path in after]
    return code, tests


def _check_sizes(
    kept: Mapping[str, TreeEntry], changed: list[TreeEntry], limits: CommitLimits
) -> None:
    if any(one.size > limits.file_bytes for one in changed):
        raise CommitSkippedError(f"a changed file is larger than {limits.file_bytes:,} bytes")
    if sum(one.size for one in kept.values()) > limits.tree_bytes:
        raise CommitSkippedError(f"the repository is larger than {limits.tree_bytes:,} bytes")


def _texts(
    git: GitObjects, tree: Mapping[str, TreeEntry], paths: list[str]
) -> dict[str, str | None]:
    found = git.contents(tree[path].id for path in paths if path in tree)
    texts: dict[str, str | None] = {}
    for path in paths:
        try:
            texts[path] = found[tree[path].id].decode() if path in tree else None
        except UnicodeDecodeError:
            raise CommitSkippedError(f"{path} is changed and no UTF-8 text") from None
    return texts


def _wanted_tests(
    after: Mapping[str, TreeEntry], tests: list[str], limits: CommitLimits
) -> list[str]:
    """The changed test files, at most so many, and what was changed beside them."""
    files = [path for path in tests if is_test_file(path)][: limits.test_files]
    beside = [path for path in tests if not is_test_file(path) and path in after]
    return files + beside


def _tests_of(
    git: GitObjects, after: Mapping[str, TreeEntry], reference: Mapping[str, str | None], *,
    limits: CommitLimits,
) -> list[str]:  # fmt: skip
    """Unchanged test files that name a changed module, those that name it most first."""
    names = {module_of(path).rpartition(".")[2] for path in reference if path.endswith(".py")}
    word = re.compile(rb"\b(?:" + b"|".join(re.escape(one).encode() for one in names) + rb")\b")
    rest = {path: one for path, one in after.items() if is_test_file(path) and one.regular}
    found = git.contents(one.id for one in rest.values() if one.size <= limits.file_bytes)
    counts = {
        path: len(word.findall(found[one.id])) for path, one in rest.items() if one.id in found
    }
    ranked = sorted((-count, path) for path, count in counts.items() if count and _is_kept(path))
    return [path for _, path in ranked[: limits.other_tests]]


def _changed_lines(files: Mapping[str, bytes], reference: Mapping[str, str | None]) -> int:
    count = 0
    for path, text in reference.items():
        old = files.get(path, b"").decode(errors="replace").splitlines()
        new = (text or "").splitlines()
        count += sum(line[:2] in ("+ ", "- ") for line in _quick_diff(old, new))
    return count


def _quick_diff(old: list[str], new: list[str]) -> list[str]:
    """Added and removed lines, without the search for similar ones."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    found: list[str] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            found += [f"- {line}" for line in old[i:j]] + [f"+ {line}" for line in new[k:m]]
    return found


def _changes_meaning(files: Mapping[str, bytes], reference: Mapping[str, str | None]) -> bool:
    """False where the changed modules stay the same but for comments, docstrings and layout."""
    for path, text in reference.items():
        old = files.get(path)
        if old is None or text is None or not path.endswith(".py"):
            return True
        before, after = meaning(old.decode(errors="replace")), meaning(text)
        if before is None or before != after:
            return True
    return False


def meaning(source: str) -> str | None:
    """A module without comments, docstrings and layout; None for one that is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)
