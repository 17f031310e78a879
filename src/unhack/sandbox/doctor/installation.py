"""The installation as jobs and commands find it, tried for real; and what they see only if asked.

Covered: a Python or packages that the users of jobs cannot read; an installation at a place that a
sandbox has for itself; editable installs and folders of `PYTHONPATH` and `.pth` files, whose
packages are shown one by one.
Not covered: a package that is shown and cannot be imported for reasons of its own.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import sys
from dataclasses import dataclass

from unhack.core.errors import UnhackError
from unhack.sandbox.conformance.probe import LIMITS, NO_ARGUMENTS, Probe
from unhack.sandbox.distributions import ENGINE, content_packages, installed_contents
from unhack.sandbox.job import Backend, Ending, Isolation, Kind, Profile, Role
from unhack.sandbox.rootfs import inside, interpreter, site_directories
from unhack.sandbox.workspace.command_pool import CommandPool
from unhack.sandbox.workspace.commands import Command

_COMMAND = ("python3", "-c", "import decimal, encodings.idna")


@dataclass(frozen=True, slots=True)
class InstallationReport:
    """Python and its packages."""

    python: str
    """The interpreter on the host."""
    python_inside: str
    """Its path in jobs and commands."""
    packages: tuple[str, ...]
    """Folders with distributions."""
    beside: tuple[str, ...]
    """Editable installs, and folders of modules that are no distributions: shown to a job only
    where it preloads them by name."""
    fault: str
    """The reason why jobs or commands do not find them, and what helps; empty where they do."""


def examine_installation(backend: Backend) -> InstallationReport:
    """Try a job that may import everything, and a command, at the level of `backend`."""
    fault = _job_fault(backend)
    if not fault and backend.isolation is Isolation.NAMESPACES:
        fault = asyncio.run(_command_fault())
    return InstallationReport(
        python=interpreter(),
        python_inside=inside(interpreter()),
        packages=tuple(site_directories()),
        beside=(*_editable(), *_module_folders()),
        fault=fault,
    )


def _job_fault(backend: Backend) -> str:
    kind = Kind.PROGRAM if backend.isolation is Isolation.NAMESPACES else Kind.FUNCTION
    profile = Profile(kind=kind, role=Role.JUDGE, site_packages=True)
    probe = Probe(backend)
    try:
        job = probe.job("def f(): return 1", NO_ARGUMENTS, limits=LIMITS, profile=profile)
        outcome = probe.start(job)[1]()
    except UnhackError as error:
        return str(error)
    if outcome.ending is Ending.EXITED:
        return ""
    return outcome.error or f"a trivial job ended as {outcome.ending}"


async def _command_fault() -> str:
    try:
        async with CommandPool(slots=1, preload=()) as pool:
            state = pool.states.load({})
            result, _ = await pool.run(state, Command(_COMMAND), limits=LIMITS)
    except UnhackError as error:
        return str(error)
    return "" if result.exit_code == 0 else f"python3 does not run: {result.stderr.strip()[-300:]}"


def _editable() -> list[str]:
    """Editable distributions that are neither the engine nor contents."""
    own = {"unhack", *(one.name for one in installed_contents())}
    found: list[str] = []
    for one in importlib.metadata.distributions():
        source = json.loads(one.read_text("direct_url.json") or "{}")
        if source.get("dir_info", {}).get("editable") and one.metadata["Name"] not in own:
            found.append(f"{one.metadata['Name']} ({source['url'].removeprefix('file://')})")
    return sorted(found)


def _module_folders() -> list[str]:
    """Folders on the path with modules that no distribution has brought."""
    started = os.path.dirname(os.path.realpath(sys.argv[0]))
    library = os.path.dirname(os.path.realpath(os.__file__))
    passed_over = {started, os.getcwd(), library, f"{library}/lib-dynload", *site_directories()}
    ours = {*ENGINE, *content_packages()}
    found: list[str] = []
    for path in dict.fromkeys(map(os.path.realpath, filter(None, sys.path))):
        if path not in passed_over and os.path.isdir(path):
            names = {name.partition(".")[0] for name in os.listdir(path) if _is_module(path, name)}
            if names - ours:
                found.append(path)
    return found


def _is_module(folder: str, name: str) -> bool:
    return name.endswith((".py", ".so")) or os.path.isfile(f"{folder}/{name}/__init__.py")
