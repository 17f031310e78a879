"""The console scripts of packages that commands find: `pytest` beside `python3 -m pytest`.

    write_console_scripts(("pytest", "black"), folder)      # pytest, py.test, black, blackd

Covered: entry points of the distributions that hold the modules; each runs by the sandbox's Python.
Not covered: programs that a distribution brings as files of its own.
Source: the entry points specification, console_scripts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from unhack.sandbox.rootfs import COMMANDS

SCRIPTS = "/installed/scripts"
"""The folder inside."""


def write_console_scripts(modules: Iterable[str], folder: Path) -> None:
    """Write the scripts of the distributions that hold some modules."""
    folder.mkdir(mode=0o755)
    for point in (one for name in modules for one in _scripts(name.partition(".")[0])):
        first = point.attr.partition(".")[0]
        file = folder / os.path.basename(point.name)
        file.write_text(
            f"#!{COMMANDS}/python3\nimport sys\nfrom {point.module} import {first}\n"
            f"sys.exit({point.attr}())\n"
        )
        file.chmod(0o755)


@cache
def _scripts(module: str) -> tuple[metadata.EntryPoint, ...]:
    return tuple(
        point
        for found in _distributions(module)
        for point in found.entry_points
        if point.group == "console_scripts" and point.attr
    )


def _distributions(module: str) -> Iterator[metadata.Distribution]:
    """The distribution of the module's name, or else those that hold it, which is slow to say."""
    try:
        yield metadata.distribution(module)
    except metadata.PackageNotFoundError:
        for name in metadata.packages_distributions().get(module, ()):
            yield metadata.distribution(name)
