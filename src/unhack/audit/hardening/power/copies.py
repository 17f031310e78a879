"""A copy of a verifier with another source, beside what it imports; the original is never written.

Covered: functions and scripts with the files beside them, modules of installed packages, one task
with a script or a checker.
Not covered: suites of tasks; folders over 32 MiB, whose copy is one file by itself.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from unhack.audit.hardening.copy import HardenedCopy
from unhack.audit.subject import Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.imported_modules import file_names_in
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.target import Module, folder_binds
from unhack.audit.subjects.task_subject import TaskSubject
from unhack.core.errors import UsageError
from unhack.sandbox.job import Backend

_MOST_BYTES = 32 * 2**20
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", "node_modules", "*.pyc")


def copy_with(
    subject: Subject, text: str, *, folder: Path, backend: Backend | None = None
) -> Subject:
    """The subject with `text` for its source, written to an empty folder.

    Raises UsageError for a subject without a source of its own, and for a copy that cannot load.
    """
    if isinstance(subject, FunctionSubject):
        return _function(subject, text, folder=folder, backend=backend)
    source = subject.source
    if not isinstance(subject, TaskSubject) or len(subject.tasks) > 1 or source is None:
        raise UsageError(f"{subject.name} has no source of its own to weaken")
    origin = Path(source.path).parent
    place = folder / origin.name
    shutil.copytree(origin, place, ignore=_LEFT_OUT)
    (place / Path(source.path).name).write_text(text, encoding="utf-8")
    return load_subject(str(place), backend=backend)


def _function(
    subject: FunctionSubject, text: str, *, folder: Path, backend: Backend | None
) -> Subject:
    target = subject.target
    module, defined = target.module, target.defined_in
    together = module.root == defined.root and not module.installed
    binds = folder_binds(module, (), named=file_names_in(module)) if together else ()
    paths = [Path(host) for host, _ in binds]
    if not together or sum(map(_bytes_of, paths)) > _MOST_BYTES:
        place = folder / defined.path.name
        return HardenedCopy(subject, subject.name, place, backend).write(text)
    for path in paths:
        if path.is_dir():
            shutil.copytree(path, folder / path.name, ignore=_LEFT_OUT)
        else:
            shutil.copyfile(path, folder / path.name)

    def moved(one: Module) -> Module:
        return Module(folder / one.path.relative_to(one.root), one.name, folder)

    (folder / defined.path.relative_to(defined.root)).write_text(text, encoding="utf-8")
    new = replace(target, module=moved(module), defined_in=moved(defined))
    made = replace(subject, target=new)
    made.__dict__.update(loaded=subject.loaded)
    return made


def _bytes_of(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
