"""The part of an agent's work that a judge with a script of somebody's takes, and the rest by name.

    rules = HandInRules(task, start=state, image=image)
    handed = rules.applied(state, interpreter)
    handed.changes, handed.left_out           # {"site-packages/x.pth": "metadata of a package"}

Covered: see `script_judge`, whose rules these are; a link is followed by way of others.
Not covered: what handed in code does once something runs it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unhack.environments.sources.loaders.harbor import OWN, HarborTask
from unhack.sandbox.workspace.image_root import ImageRoot
from unhack.sandbox.workspace.states import WorkspaceState
from unhack.sandbox.workspace.tree import (
    Changes,
    Folder,
    NewFolder,
    Removed,
    StoredLink,
)

GRADERS = ("tests", "logs", ".unhack")
LINKED = (*GRADERS, "solution")
_ARTIFACTS = "logs/artifacts"
"""Handed in always, as Harbor does."""
_KERNELS = ("proc", "dev", "sys")
_SYSTEMS = ("bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "run", "sbin", "usr",
            "var/cache", "var/lib/apt", "var/lib/dpkg")  # fmt: skip
_PROGRAMS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr/bin", "usr/sbin", "usr/lib",
             "usr/lib32", "usr/lib64", "usr/libexec", "usr/local/bin", "usr/local/sbin",
             "usr/local/lib", "etc/ld.so.preload", "etc/ld.so.conf", "etc/ld.so.conf.d",
             "etc/ld.so.cache")  # fmt: skip
"""The places of programs and their libraries: left out, whatever the tests name."""
_BINARIES = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin")
"""Folders of which one new program may be asked for, by its full path."""
_SETTINGS = frozenset({
    "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", ".pytest.ini", "tox.ini",
    "pytest.toml", ".pytest.toml", "setup.cfg", "pyproject.toml", ".bashrc", ".profile",
    ".bash_profile", ".bash_login", ".gitconfig",
})  # fmt: skip
_TESTS = re.compile(r"test_.{0,250}\.py|.{0,250}_test\.py")
_WANTS_TESTS = re.compile(
    r"\b(?:writ|add|creat|implement|generat|extend|updat)[a-z]{0,8}\b[^.\n]{0,80}\btests?\b", re.I
)
"""Read generously, since it opens nothing but new files: a test of the start stays as it is."""
_GIT = re.compile(
    r"\b(?:git|commit(?:s|ted)?|branch(?:es)?|rebas(?:e|ed|ing)|repos?|repositor(?:y|ies)|"
    r"merge (?:conflict|commit|request)s?)\b",
    re.I,
)
_OF_HOST = ("usr", "bin", "sbin", "lib", "lib64", "etc", "opt", "home", "tmp", "installed")
"""Places of this host's sandbox that hold nothing of the grader's: links may lead there."""
_METADATA = (".dist-info", ".egg-info", ".egg-link", ".pth")
_SUFFIXES = (".py", ".pyc", ".so")
_MAX_LINKS = 40


@dataclass(frozen=True, slots=True)
class JudgedChanges:
    """The changes that a judge takes of a state, and those that it leaves out."""

    changes: Changes
    left_out: Mapping[str, str]
    """Path -> reason."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The folders of the grader's own Python, relative to the root directory, and the modules that
    it finds there."""

    places: tuple[str, ...] = ()
    modules: frozenset[str] = frozenset()


class HandInRules:
    """The rules of one task.

    Example:

        HandInRules(task, start=start, image=None).applied(state, Interpreter()).left_out
    """

    def __init__(self, task: HarborTask, *, start: WorkspaceState, image: ImageRoot | None) -> None:
        """`start` is the state in which agents begin; `image` its image, None on this host."""
        self._task, self._start = task, start.tree
        self._in_image = image is not None
        self._own = (*GRADERS, *_KERNELS) if image else (OWN,)
        self._programs = (*_PROGRAMS, *(_program_folders(image) if image else ()))
        path = image.environ.get("PATH", "").split(":") if image else ()
        self._binaries = {*_BINARIES, *(one.strip("/") for one in path)} - {""}
        self._cwd = image.workdir.strip("/") if image else ""
        tests = b"\n".join(task.tests.values()).decode(errors="replace")
        self._named = f"{tests}\n{task.statement}"
        of_git = any(".git" in one.split("/") for one in task.declared)
        self._of_git = of_git or speaks_of_git(task.statement)
        self._wants_tests = bool(_WANTS_TESTS.search(task.statement))

    def applied(self, state: WorkspaceState, interpreter: Interpreter) -> JudgedChanges:
        """The changes that the judge takes of a state."""
        taken: Changes = {}
        left: dict[str, str] = {}
        for path, change in sorted(self._changes(state).items()):
            why = self._refused(path, change, state.tree, interpreter) if path else "no file"
            why = why or self._replaces(path, change, state.tree, interpreter)
            why = why or self._stands_below(path, taken)
            before = self._start.find(path)
            if not why:
                taken[path] = change
            elif isinstance(change, Removed) and isinstance(before, Folder):
                for below in (f"{path}/{one}" for one in _files_below(before)):  # some may go
                    if stays := self._refused(below, change, state.tree, interpreter):
                        left[below] = stays
                    else:
                        taken[below] = change
            elif not isinstance(change, NewFolder):
                left[path] = why
        return JudgedChanges(taken, left)

    def _replaces(self, path: str, change: object, tree: Folder, interpreter: Interpreter) -> str:
        """Why a folder of the start stays where a file, a link or nothing takes its place: it holds
        what is not to be removed. Empty where nothing hinders."""
        before = self._start.find(path)
        if not isinstance(before, Folder) or isinstance(change, NewFolder):
            return ""
        for below in _files_below(before):
            why = self._refused(f"{path}/{below}", Removed(), tree, interpreter)
            if why:
                return f"in place of {below}: {why}"
        return ""

    def _stands_below(self, path: str, taken: Changes) -> str:
        """Why nothing can stand below a file of the start that stays; empty where none does."""
        above = posixpath.dirname(path)
        while above:
            if above not in taken and not isinstance(self._start.find(above), Folder | None):
                return f"below {above}, which stays a file"
            above = posixpath.dirname(above)
        return ""

    def _changes(self, state: WorkspaceState) -> Changes:
        """Since the start; for a judge with an image of its own, all that is declared."""
        if self._task.judge_image is None:
            return state.changes()
        found: Changes = {}
        places = [*self._task.declared, _ARTIFACTS]
        for path, node in state.tree.walk():
            if _below(path, places):
                found[path] = NewFolder(node.mode) if isinstance(node, Folder) else node
        return found

    def _refused(self, path: str, change: object, tree: Folder, interpreter: Interpreter) -> str:
        """Why a change is left out; empty where it is handed in."""
        shown = path if self._in_image else path.removeprefix(f"{OWN}/")
        if _below(shown, [_ARTIFACTS]) and not isinstance(change, StoredLink):
            return ""
        if _below(path, self._own):
            return "a place of the grader's"
        if ".git" in path.split("/") and not self._of_git:
            return "of a repository, which the statement does not speak of"
        if isinstance(change, StoredLink) and not self._leads_to_data(tree, path):
            return "a link that leads to the grader's files"
        if self._task.declared:
            above = any(one.startswith(f"{path}/") for one in self._task.declared)
            declared = _below(path, self._task.declared) or (
                above and isinstance(change, NewFolder) and self._start.find(path) is None
            )
            if not declared or path in self._task.declared:
                return "" if declared else "not below a declared path"
        elif self._in_image:
            if _below(path, interpreter.places) or (
                _below(path, self._programs) and not self._is_asked_for(path, change)
            ):
                return "the grader's own programs would find it"
            if "/" not in path and not isinstance(change, NewFolder) and not self._names(path):
                return "a file of the root directory"
            if path.startswith("root/.") and not self._names(path):
                return "settings of the grader's user"
            if _below(path, _SYSTEMS) and f"/{path}" not in self._named:
                return "a place of the system, which the tests do not name"
        return self._obeyed(path, change, interpreter)

    def asks_for(self, program: str) -> bool:
        """True for a program that the statement names by its full path and the image has in no
        place of programs: nothing of the grader's is hidden by it."""
        places = [f"{folder}/{program}" for folder in self._binaries]
        if any(self._start.find(place) is not None for place in places):
            return False
        return any(_speaks_of(self._task.statement, f"/{place}") for place in places)

    def _is_asked_for(self, path: str, change: object) -> bool:
        """True for a new program, where the statement says that it is to be."""
        folder, _, name = path.rpartition("/")
        return (
            folder in self._binaries
            and not isinstance(change, NewFolder | Removed)
            and _speaks_of(self._task.statement, f"/{path}")
            and self.asks_for(name)
        )

    def _obeyed(self, path: str, change: object, interpreter: Interpreter) -> str:
        """Why a file could be taken for a part of the grader's programs, or for their settings."""
        *folders, name = path.split("/")
        if (
            _TESTS.fullmatch(name)
            and not (self._wants_tests and self._start.find(path) is None)
            and not _speaks_of(self._task.statement, name)
        ):
            return "a test, and the statement does not ask for it"
        if isinstance(change, NewFolder) or self._names(path):
            return ""
        if name in _SETTINGS:
            return "settings that a test runner or a shell obeys"
        if ".git" in folders and (name == "config" or "hooks" in (*folders, name)):
            return "settings that git obeys"
        if isinstance(change, Removed) or self._start.find(path) is not None:
            return ""
        if "__pycache__" in folders or name.endswith(".pyc"):
            return "byte code"
        if any(one.endswith("-packages") for one in folders):
            return ""  # an environment of the agent's, in which only its own interpreter looks
        if any(one.lower().endswith(_METADATA) for one in (*folders, name)):
            return "metadata of a package"
        if name.startswith("__init__.") and folders:
            *folders, name = *folders[:-1], f"{folders[-1]}.py"
        # Deeper down it is a part of some package; the grader's Python looks at its own first.
        if "/".join(folders) != self._cwd or not (
            isinstance(change, StoredLink) or name.endswith(_SUFFIXES)
        ):
            return ""
        module = name.partition(".")[0]
        # pytest itself looks for its plugins in the working folder first.
        known = module in interpreter.modules or module == "unhack_grader"
        return f"it would stand for the module {module}" if known else ""

    def _names(self, path: str) -> bool:
        """True where the tests or the statement speak of a file; settings of git by their path."""
        _, inside, rest = f"/{path}".rpartition("/.git/")
        return _speaks_of(self._named, f".git/{rest}" if inside else posixpath.basename(path))

    def _leads_to_data(self, tree: Folder, path: str) -> bool:
        """True for a link that ends, by way of other links, at nothing of the grader's."""
        left = path.split("/")
        at: list[str] = []
        followed = 0
        while left:
            part = left.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                if not at and not self._in_image:
                    left = self._in_workspace(["", *left])
                at = at[:-1]
                continue
            at.append(part)
            node = tree.find("/".join(at))
            if isinstance(node, StoredLink):
                followed += 1
                if followed > _MAX_LINKS:
                    return False
                at.pop()
                parts = node.target.split("/")
                if node.target.startswith("/"):
                    at = []
                    if not self._in_image and node.target.split("/")[1] in _OF_HOST:
                        return ".." not in parts
                    parts = parts if self._in_image else self._in_workspace(parts)
                left = parts + left
        end = "/".join(at)
        if self._task.judge_image is not None:  # what else there is in its image, no agent sees
            return _below(end, [*self._task.declared, _ARTIFACTS])
        return bool(end) and not _below(end, self._own)

    def _in_workspace(self, parts: list[str]) -> list[str]:
        """The way from the workspace on of an absolute path of this host's sandbox."""
        inside = [one for one in parts if one not in ("", ".")]
        if inside[:1] in ([self._task.workdir.strip("/")], ["workspace"]):
            return inside[1:]
        # /tests and its like are links into OWN; anything else is no file of the workspace.
        return [OWN, *inside]


def _speaks_of(text: str, name: str) -> bool:
    """True for a name that stands in a text as a word of its own."""
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text))


def speaks_of_git(statement: str) -> bool:
    """True for a statement that speaks of a repository."""
    return bool(_GIT.search(statement))


def _program_folders(image: ImageRoot) -> Iterator[str]:
    """The folders in which an image's programs are: those of PATH, those to which links there lead,
    and the environments of Pythons."""
    for place in image.environ.get("PATH", "").split(":"):
        folder = image.tree.find(place.strip("/"))
        if not place.strip("/") or not isinstance(folder, Folder):
            continue
        yield place.strip("/")
        for name, node in folder.walk():
            if isinstance(node, StoredLink) and "/" not in name:
                end = posixpath.normpath(posixpath.join(place, node.target)).strip("/")
                yield posixpath.dirname(end) if end.count("/") > 1 else end
    for path, _ in image.tree.walk():
        if path.endswith(("/pyvenv.cfg", "/conda-meta")):
            yield posixpath.dirname(path)


def _below(path: str, places: tuple[str, ...] | list[str]) -> bool:
    return any(place in ("", path) or path.startswith(f"{place}/") for place in places)


def _files_below(folder: Folder) -> Iterator[str]:
    """The relative paths of all files and links below a folder."""
    return (path for path, node in folder.walk() if not isinstance(node, Folder))
