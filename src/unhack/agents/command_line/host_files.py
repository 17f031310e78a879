"""Which files of the host a command-line agent needs: its own program, and the numerical packages.

Covered: programs of npm (their whole `node_modules`), their interpreters, files that a command line
names; `python3` of pyenv, uv, conda or an environment, in whose place the judge's interpreter runs;
shims, which are refused with the way to the program behind them; the judge's interpreter with the
packages that submissions may use, and nothing else of its site-packages, least of all this package,
which holds strategies and hacks.
Not covered: programs installed into a Python environment; show it with the option `binds`.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from unhack.agents.play import HostFiles
from unhack.core.errors import UsageError
from unhack.sandbox.distributions import PackageOrigin, installed_contents, origin
from unhack.sandbox.rootfs import inside, interpreter, site_directories

PACKAGES = "/opt/packages"
"""Folder of the numerical packages, inside."""
WANTED = "/packages"
"""Folder of the packages that an assignment brings along, inside."""
PROGRAM = "/opt/agent"
"""Folder of a program that does not belong to the system, inside."""
_ROOTS = ("numpy", "scipy", "numba", "torch", "transformers", "safetensors", "triton")
_SYSTEM = ("/usr/", "/bin/", "/lib/", "/lib64/")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_SCRIPTS = (".py", ".sh", ".js", ".mjs", ".rb", ".pl")


@dataclass(frozen=True, slots=True)
class WantedFiles:
    """The needs of an agent on whatever machine it plays."""

    executables: tuple[str, ...]
    """Names or paths; the first that is found counts."""
    install: str = ""
    """The way to get it."""
    words: tuple[str, ...] = ()
    """Of its command line: files that it names are shown."""
    binds: str = ""
    """Paths to show, separated by colons."""

    def find(self) -> HostFiles:
        """These files on this machine. Raises UsageError for what is missing."""
        found = find_program(self.executables, install=self.install)
        shown = (*parse_binds(self.binds), *named_files(self.words))
        return HostFiles(
            found.program,
            found.path,
            inside(interpreter()),
            binds=tuple(dict.fromkeys((*found.binds, *shown))),
            packages=package_binds(),
        )

    @property
    def shown(self) -> tuple[str, ...]:
        """Paths of this machine that options and the command line name."""
        return tuple(path for _, path in (*parse_binds(self.binds), *named_files(self.words)))


@dataclass(frozen=True, slots=True)
class Installation:
    """A program and what it needs."""

    program: str
    """Its path inside."""
    binds: tuple[tuple[str, str], ...] = ()
    path: tuple[str, ...] = ()
    """Directories for PATH."""


def find_program(names: tuple[str, ...], *, install: str) -> Installation:
    """The first of `names` that is an executable file, with its installation.

    Raises UsageError that says how to get it, or which permission is missing.
    """
    for name in names:
        found = shutil.which(name)
        if found is not None:
            real = os.path.realpath(found)
            if _PYTHON.fullmatch(os.path.basename(found)) and not real.startswith(_SYSTEM):
                return Installation(_judges_python(found))
            _check_no_shim(found)
            return _installation(real)
    wanted = " or ".join(names)
    hint = f": {install}" if install else ""
    raise UsageError(f"there is no {wanted} on the PATH{hint}")


def _judges_python(found: str) -> str:
    """The judge's interpreter, which is inside already, in place of another Python of the host.

    The other one's packages would come with it, this package among them. Raises UsageError where a
    version is asked for that the judge's interpreter does not have.
    """
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    asked = os.path.basename(found).removeprefix("python")
    if asked not in ("", "3", version):
        raise UsageError(
            f"{found} is not part of the system, and the Python that agents are given is "
            f"{version}: write python3, or the path of a Python below /usr"
        )
    return inside(interpreter())


def _check_no_shim(found: str) -> None:
    """A shim looks for its program where agents see nothing, and ends with code 127."""
    if os.path.basename(os.path.dirname(found)) == "shims":
        name = os.path.basename(found)
        raise UsageError(
            f"{found} is a shim of a version manager, which does not work behind walls: give the "
            f"program itself (`pyenv which {name}`, `asdf which {name}` or `mise which {name}` "
            "prints its path)"
        )


def _installation(program: str) -> Installation:
    binds: list[tuple[str, str]] = []
    path: list[str] = []
    _check_readable(program)
    inside = program
    if not program.startswith(_SYSTEM):
        tree = _tree(program)
        place = f"{PROGRAM}/{os.path.basename(tree)}"
        binds.append((tree, place))
        inside = place + program.removeprefix(tree)
    runner = _runner(program)
    if runner:
        real = os.path.realpath(runner)
        if not real.startswith(_SYSTEM) and real != interpreter():
            prefix = str(Path(real).parent.parent)
            binds.append((prefix, prefix))
            path.append(str(Path(real).parent))
    return Installation(inside, tuple(binds), tuple(path))


def _tree(program: str) -> str:
    """The outermost `node_modules` that holds a program; else its file alone."""
    parents = [str(parent) for parent in Path(program).parents if parent.name == "node_modules"]
    return parents[-1] if parents else program


def _runner(program: str) -> str:
    """The interpreter that the first line of a script names; empty for a binary."""
    with open(program, "rb") as file:
        head = file.readline(512)
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].decode(errors="replace").split()
    if not words:
        return ""
    if os.path.basename(words[0]) != "env":
        return words[0]
    names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    found = shutil.which(names[0]) if names else None
    if found is not None and _PYTHON.fullmatch(os.path.basename(found)):
        real = os.path.realpath(found)
        return found if real.startswith(_SYSTEM) else _judges_python(found)
    if found is None:
        raise UsageError(f"{program} needs {names[0] if names else 'an interpreter'}, which is "
                         "not on the PATH")  # fmt: skip
    return found


def _check_readable(path: str, needed: int = 0o005) -> None:
    """Root's agents run under a user id of their own."""
    mode = os.stat(path).st_mode
    if os.geteuid() == 0 and mode & needed != needed:
        words, letters = ("readable and executable", "rx") if needed & 1 else ("readable", "r")
        command = "chmod -R o+rX" if stat.S_ISDIR(mode) else f"chmod o+{letters}"
        raise UsageError(f"{path} is not {words} for other users: {command}")


def named_files(words: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Files and directories of the host that a command line names by an absolute path."""
    binds: list[tuple[str, str]] = []
    for word in words:
        if word.startswith("/") and os.path.exists(word) and not word.startswith(_SYSTEM):
            _check_readable(word, 0o004)
            binds.append((os.path.realpath(word), os.path.normpath(word)))
    return tuple(binds)


def absolute(word: str) -> str:
    """A word of a command line; the path of a script that lies here is made absolute."""
    plain = word.endswith(_SCRIPTS) and not word.startswith("-") and os.path.isfile(word)
    return os.path.abspath(word) if plain or word.startswith(("./", "../")) else word


def parse_binds(text: str) -> tuple[tuple[str, str], ...]:
    """`/a:/b` as binds of the same paths. Raises UsageError for what does not exist."""
    binds: list[tuple[str, str]] = []
    for path in filter(None, text.split(":")):
        real = os.path.realpath(path)
        if not path.startswith("/") or not os.path.exists(real):
            raise UsageError(f"binds: {path!r} is no absolute path of something that exists")
        binds.append((real, os.path.normpath(path)))
    return tuple(binds)


def package_binds() -> tuple[tuple[str, str], ...]:
    """The numerical packages that are installed here, and what they need, each as a bind. Raises
    UsageError for one that agents could not read."""
    sites = [Path(site) for site in site_directories()]
    binds: dict[str, str] = {}
    for name in sorted(_needed()):
        for part in _top_level(name):
            for site in sites:
                if (site / part).exists():
                    _check_readable(str(site / part), 0o005 if (site / part).is_dir() else 0o004)
                    binds.setdefault(f"{PACKAGES}/{part}", str(site / part))
    return tuple((source, target) for target, source in binds.items())


def _needed() -> set[str]:
    """Distributions, by closure over what each requires."""
    waiting: list[str] = [*_ROOTS]
    known: set[str] = set()
    withheld = {"unhack", *(one.name.lower() for one in installed_contents())}
    while waiting:
        name = waiting.pop()
        if name in known or name in withheld:
            continue
        try:
            requires = importlib.metadata.distribution(name).requires or []
        except importlib.metadata.PackageNotFoundError:
            continue
        known.add(name)
        for line in requires:
            match = _NAME.match(line)
            if match and "extra ==" not in line:
                waiting.append(match[0].lower())
    return known


def _top_level(name: str) -> set[str]:
    """First components of the paths that a distribution installed."""
    files = importlib.metadata.distribution(name).files or []
    parts = {file.parts[0] for file in files}
    return {
        part
        for part in parts
        if part not in ("..", "__pycache__", "bin")
        and origin(part.removesuffix(".py")) is PackageOrigin.OTHER
    }
