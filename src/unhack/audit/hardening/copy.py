"""The hardened copy on disk: one file, or a whole directory whose verifier is hardened.

Covered: files and directories with a verifier script, unhack tasks with a script or a checker,
modules of packages, whose relative imports become absolute. The original is never written, and
what lay at the copy's place comes back when there is nothing to keep.
Not covered: siblings that a single file imports; put the copy beside them.
"""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.audit.subject import AuditProblem, Source, Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.target import Module, find_target
from unhack.core import plain
from unhack.core.errors import UsageError
from unhack.sandbox.job import Backend
from unhack.verifiers.function import Case


def check_place(target: str, subject: Subject, *, place: Path, force: bool = False) -> None:
    """Check before the audit that a copy can be written. Raises UsageError where it cannot."""
    source = subject.source
    if source is None:
        raise UsageError(f"--fix: {subject.name} has no source of its own to harden")
    if not Path(source.path).is_file():
        raise UsageError(f"--fix: {source.path} cannot be read")
    if place.resolve() == Path(source.path).resolve():
        raise UsageError(f"--fix: {place} is the verifier itself; the original stays as it is")
    if place.exists() and Path(target).is_dir():
        raise UsageError(f"--fix: {place} is there already; name a directory to be made")
    if place.resolve().is_relative_to(Path(target).resolve()) and Path(target).is_dir():
        raise UsageError(f"--fix: {place} lies in the target; name a place outside it")
    if place.is_dir():
        raise UsageError(f"--fix: {place} is a directory; name a file")
    if place.exists() and not force:
        raise UsageError(f"--fix: {place} is there already; --force replaces it")


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

    def write(self, text: str) -> Subject:
        """The copy with another text of the verifier. Raises UsageError for what cannot load."""
        path = self.place
        if self.of_folder:
            inside = Path(self.source.path).resolve().relative_to(Path(self.target).resolve())
            path = self.place / inside
        whole = Path(self.source.path).read_text(encoding="utf-8")
        whole = text if self.source.text not in whole else whole.replace(self.source.text, text, 1)
        original = self.original
        if self.of_folder:
            path.write_text(whole, encoding="utf-8")
        elif isinstance(original, FunctionSubject):
            path.write_text(_standing_alone(whole, original.target.defined_in), encoding="utf-8")
        if self.settings:
            (self.place / "task.toml").write_text(self.settings, encoding="utf-8")
        if self.settings or not isinstance(original, FunctionSubject):
            return load_subject(self.named, backend=self.backend)
        if original.script is None:
            return replace(original, name=self.named, target=find_target(self.named))
        path = path.resolve()
        module = Module(path, original.target.module.name, path.parent)
        target = replace(original.target, module=module, defined_in=module)
        return replace(original, name=self.named, target=target)

    def seal(self, problem: AuditProblem, *, cases: Sequence[Case] | None = None) -> None:
        """Make the copy an unhack task: its script sealed, or with `cases` those alone judged.

        The change takes effect with the next `write`.
        """
        name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in problem.id)
        head = f"id = {json.dumps(name.strip('-') or 'task')}\n"
        if cases is None:
            assert isinstance(self.original, FunctionSubject)
            assert self.original.script is not None
            script = self.original.script
            named = f"cases = {json.dumps(script.cases)}\n" if script.cases else ""
            beside = f"files = {json.dumps(self._beside(script.cases))}\n"
            body = f'mode = "sealed"\nsolution = {json.dumps(script.solution)}\n{named}{beside}'
            self.settings = f'{head}kind = "script"\n\n[verifier]\n{body}'
            return
        rows = [
            {
                "args": plain.encode_tags(list(case.args)),
                "expected": plain.encode_tags(case.expected),
            }
            for case in cases
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.place / "cases.jsonl").write_text(text, encoding="utf-8")
        entry = json.dumps(problem.entry_point)
        close = '\n[verifier]\ncompare = "float"\n' if "." in text else ""
        self.settings = f'{head}kind = "function"\nentry_point = {entry}\n{close}'

    def unseal(self, settings: str) -> None:
        """Undo `seal`; `settings` are those from before it."""
        self.settings = settings
        for name in ("task.toml", "cases.jsonl"):
            path, origin = self.place / name, Path(self.target) / name
            if origin.is_file():
                shutil.copyfile(origin, path)
            else:
                path.unlink(missing_ok=True)

    def _beside(self, cases: str) -> list[str]:
        """The files beside the script that its source names."""
        text = self.source.text
        own = {Path(self.source.path).name, cases, "task.toml"}
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
