"""The hardened copy on disk, and its difference from the original as a diff that `git apply` takes.

A copy is one file, or a whole directory whose verifier is hardened.

Covered: files and directories with a verifier script, unhack tasks with a script or a checker,
modules of packages, whose relative imports become absolute. The original is never written, and
what lay at the copy's place comes back when there is nothing to keep. In diffs, new files and line
ends of any kind; paths are relative to the current directory.
Not covered: siblings that a single file imports, to be put beside the copy; diffs of files outside
the current directory, which keep their absolute path and need `patch -p0`.
"""

from __future__ import annotations

import ast
import difflib
import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.audit.subject import AuditProblem, Source, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.target import Module, find_target, imported_tops
from unhack.core.errors import UsageError
from unhack.sandbox.job import Backend

_NO_END = "\\ No newline at end of file\n"


def unified(path: Path, before: str | None, after: str) -> str:
    """The diff of one file; empty where nothing changes. `before` is None for a new file."""
    old, new = _lines(before or ""), _lines(after)
    if before is not None and old == new:
        return ""
    name = _relative(path)
    source = "/dev/null" if before is None else f"a/{name}"
    found = difflib.unified_diff(old, new, source, f"b/{name}", n=3)
    return "".join(one if one.endswith("\n") else f"{one}\n{_NO_END}" for one in found)


def with_own_line_ends(before: str, after: str) -> str:
    """`after`, whose line ends are all `\\n`, with those that `before` has.

    Lines that did not change keep theirs; new ones get the first that `before` has.
    """
    old = _lines(before)
    plain = [_bare(line) for line in old]
    new = [line.removesuffix("\n") for line in _lines(after)]
    usual = "\r\n" if old and old[0].endswith("\r\n") else "\n"
    made = [f"{line}{usual}" for line in new]
    for at, to, size in difflib.SequenceMatcher(None, plain, new, False).get_matching_blocks():
        made[to : to + size] = old[at : at + size]
    if made and not after.endswith("\n"):
        made[-1] = _bare(made[-1])
    return "".join(made)


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _lines(text: str) -> list[str]:
    """Lines with their ends; only `\\n` ends one, as it does for git."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _relative(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.resolve().as_posix().lstrip("/")


_SETTINGS = "task.toml"


def check_place(target: str, subject: Subject, *, place: Path | None, force: bool = False) -> None:
    """Check before the audit that a copy can be made, and written where it has a place.

    Raises UsageError where it cannot.
    """
    source = subject.source
    if source is None:
        raise UsageError(f"--fix: {subject.name} has no source of its own to harden")
    if not Path(source.path).is_file():
        raise UsageError(f"--fix: {source.path} cannot be read")
    if place is None:
        return
    if place.resolve() == Path(source.path).resolve():
        raise UsageError(f"--fix: {place} is the verifier itself; the original stays as it is")
    if place.exists() and Path(target).is_dir():
        raise UsageError(f"--fix: {place} already exists; name a new directory")
    if place.resolve().is_relative_to(Path(target).resolve()) and Path(target).is_dir():
        raise UsageError(f"--fix: {place} is inside the target; name a path outside it")
    if place.is_dir():
        raise UsageError(f"--fix: {place} is a directory; name a file")
    if place.exists() and not force:
        raise UsageError(f"--fix: {place} already exists; use --force to replace it")


def copy_siblings(subject: Subject, folder: Path) -> None:
    """Put the modules that a verifier's file imports from beside it into `folder`."""
    if subject.source is None:
        return
    waiting = [Path(subject.source.path)]
    while waiting:
        path = waiting.pop()
        for name in _imported(path):
            beside, place = path.parent / f"{name}.py", folder / f"{name}.py"
            if beside.is_file() and not place.exists():
                shutil.copyfile(beside, place)
                waiting.append(beside)
            elif (path.parent / name / "__init__.py").is_file() and not (folder / name).exists():
                shutil.copytree(path.parent / name, folder / name)


def _imported(path: Path) -> set[str]:
    """First parts of the names of the modules that a file imports."""
    try:
        return imported_tops(ast.parse(path.read_text(encoding="utf-8")))
    except (SyntaxError, ValueError):
        return set()


@dataclass
class HardenedCopy:
    """A copy that is being made."""

    original: Subject
    target: str
    """The name by which the user called the original."""
    place: Path
    backend: Backend | None = None
    settings: str = ""
    """Text of `task.toml`, once the copy is an unhack task."""
    _before: bytes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.of_folder:
            shutil.copytree(self.target, self.place)
        elif self.place.exists():
            self._before = self.place.read_bytes()

    @property
    def of_folder(self) -> bool:
        """True when a directory is copied rather than a file."""
        return Path(self.target).is_dir()

    @property
    def source(self) -> Source:
        """The original's source."""
        assert self.original.source is not None
        return self.original.source

    @property
    def named(self) -> str:
        """The copy as an audit names it."""
        place = str(self.place) if self.place.is_absolute() else f"./{self.place}"
        if self.of_folder:
            return place
        name = self.target.rpartition(":")[2] if ":" in self.target else self.source.entry
        return f"{place}:{name}"

    @property
    def _own_text(self) -> str:
        """The original's file, its line ends as they are."""
        return Path(self.source.path).read_bytes().decode("utf-8")

    def whole(self, text: str) -> str:
        """The original's file with another text of the verifier; line ends are `\\n`."""
        whole = Path(self.source.path).read_text(encoding="utf-8")
        return text if self.source.text not in whole else whole.replace(self.source.text, text, 1)

    def patch(self, text: str) -> str:
        """The change as a unified diff against the original, for `git apply` in this directory."""
        path = Path(self.source.path)
        parts = [
            unified(path, self._own_text, with_own_line_ends(self._own_text, self.whole(text)))
        ]
        if self.settings:
            settings = Path(self.target) / _SETTINGS
            before = settings.read_bytes().decode("utf-8") if settings.is_file() else None
            parts.append(unified(settings, before, self.settings))
        return "".join(parts)

    def write(self, text: str) -> Subject:
        """The copy with another text of the verifier. Raises UsageError for what cannot load."""
        path = self.place
        if self.of_folder:
            inside = Path(self.source.path).resolve().relative_to(Path(self.target).resolve())
            path = self.place / inside
        whole = self.whole(text)
        original = self.original
        if self.of_folder:
            path.write_bytes(with_own_line_ends(self._own_text, whole).encode())
        elif isinstance(original, FunctionSubject):
            alone = _standing_alone(whole, original.target.defined_in)
            path.write_bytes(with_own_line_ends(self._own_text, alone).encode())
        if self.settings:
            (self.place / _SETTINGS).write_text(self.settings, encoding="utf-8")
        if self.settings or not isinstance(original, FunctionSubject):
            return load_subject(self.named, backend=self.backend)
        if original.script is None:
            return replace(original, name=self.named, target=find_target(self.named))
        path = path.resolve()
        module = Module(path, original.target.module.name, path.parent)
        target = replace(original.target, module=module, defined_in=module)
        return replace(original, name=self.named, target=target)

    def seal(self, problem: AuditProblem) -> None:
        """Make the copy an unhack task with a sealed script, from the next `write` on."""
        name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in problem.id)
        head = f"id = {json.dumps(name.strip('-') or 'task')}\n"
        assert isinstance(self.original, FunctionSubject)
        assert self.original.script is not None
        script = self.original.script
        named = f"cases = {json.dumps(script.cases)}\n" if script.cases else ""
        beside = f"files = {json.dumps(self._beside(script.cases))}\n"
        body = f'mode = "sealed"\nsolution = {json.dumps(script.solution)}\n{named}{beside}'
        self.settings = f'{head}kind = "script"\n\n[verifier]\n{body}'

    def unseal(self, settings: str) -> None:
        """Undo `seal`; `settings` are those from before it."""
        self.settings = settings
        path, origin = self.place / _SETTINGS, Path(self.target) / _SETTINGS
        if origin.is_file():
            shutil.copyfile(origin, path)
        else:
            path.unlink(missing_ok=True)

    def _beside(self, cases: str) -> list[str]:
        """The files beside the script that its source names."""
        text = self.source.text
        own = {Path(self.source.path).name, cases, _SETTINGS}
        return [
            path.name
            for path in sorted(self.place.iterdir())
            if path.is_file() and path.name not in own
            if (path.stem if path.suffix == ".py" else path.name) in text
            and path.name not in ("reference.py", "prompt.md")
        ]

    def discard(self) -> None:
        """Leave the place as it was found."""
        if self.of_folder:
            shutil.rmtree(self.place)
        elif self._before is not None:
            self.place.write_bytes(self._before)
        else:
            self.place.unlink(missing_ok=True)


def _standing_alone(text: str, module: Module) -> str:
    """The text with absolute imports in place of relative ones: the copy is in no package."""
    package = module.name.split(".")
    if module.path.name != "__init__.py":
        package = package[:-1]
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level and package:
            base = package[: len(package) - node.level + 1]
            whole = ".".join([*base, node.module] if node.module else base)
            line = lines[node.lineno - 1]
            relative = "." * node.level + (node.module or "")
            lines[node.lineno - 1] = line.replace(f"from {relative} ", f"from {whole} ", 1)
    return "".join(lines)
