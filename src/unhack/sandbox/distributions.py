"""Installed distributions: the engine, contents, and everybody else's.

    origin("numpy")      PackageOrigin.OTHER
    content_packages()   {"unhack_contests", "unhack_suites", "acme_contests"}

Contents are what a user scores against: contests, suites, worlds, verifiers with known flaws. They
hold references, strategies and hacks. A distribution says that it brings contents by an entry point
in a group `unhack.…` (`unhack.contests`, `unhack.suites`, …), ours and a third party's alike; every
top-level package of such a distribution counts. So contents stand in packages of their own: a
package that a candidate has to import cannot hold them too.

Covered: wheels, editable installs, several site-packages directories.
Not covered: files beside the distributions of this interpreter, such as a checkout that is not
installed or data that a wheel puts into `share`; of those a sandbox shows none but what lies below
`/usr` or the interpreter's prefix, and only to programs.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.metadata import Distribution, EntryPoint
from typing import Any

from unhack.core.errors import UnknownNameError, UsageError, with_article

ENGINE = frozenset({"unhack", "unhack_taskset"})
"""Top-level packages of the engine."""
_GROUPS = "unhack."
_NOT_PACKAGES = ("..", "__pycache__", "bin")


class PackageOrigin(StrEnum):
    """The origin of a top-level package."""

    ENGINE = "engine"
    CONTENTS = "contents"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Contents:
    """One installed distribution with contents."""

    name: str
    version: str
    packages: frozenset[str]
    """Its top-level packages and modules."""
    entry_points: tuple[EntryPoint, ...]
    """Those in the groups `unhack.…`."""


@cache
def installed_contents() -> tuple[Contents, ...]:
    """The distributions with contents, by name; read once for each process. Raises UsageError for
    one whose entry points cannot be read."""
    found: dict[str, Contents] = {}
    for one in _scan():  # in the order of the path: the first is the one that is imported
        first = found.setdefault(one.name, one)  # but another version's packages lie there too
        found[one.name] = replace(first, packages=first.packages | one.packages)
    return tuple(found[name] for name in sorted(found))


def content_packages() -> frozenset[str]:
    """Top-level packages that hold contents: no candidate and no agent may see them."""
    return frozenset(name for one in installed_contents() for name in one.packages)


def content_folders() -> list[str]:
    """Directories of the packages with contents that this process could import, an editable
    install's among them."""
    found: list[str] = []
    for name in sorted(filter(str.isidentifier, content_packages())):
        with contextlib.suppress(ImportError, ValueError):  # listed, but not there
            spec = importlib.util.find_spec(name)
            places = spec.submodule_search_locations if spec is not None else None
            found += map(os.path.realpath, places or ())
    return found


def versions() -> dict[str, str]:
    """Distribution -> version, of the engine and of everything with contents: two machines that
    work on the same thing must agree on these."""
    contents = {one.name: one.version for one in installed_contents()}
    return {"unhack": importlib.metadata.version("unhack"), **contents}


def version_conflict(theirs: Mapping[str, str], *, here: str = "this process") -> str:
    """The distributions that this process and another machine have in different versions; empty
    where there are none. One that only one of them has is no conflict."""
    mine = versions()
    return ", ".join(
        f"{name} {theirs[name]} ({here}: {mine[name]})"
        for name in mine
        if theirs.get(name, mine[name]) != mine[name]
    )


def origin(module: str) -> PackageOrigin:
    """The origin of a module, by its dotted name."""
    top = module.partition(".")[0]
    if top in ENGINE:
        return PackageOrigin.ENGINE
    return PackageOrigin.CONTENTS if top in content_packages() else PackageOrigin.OTHER


def entry_points(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group, ours and third parties' alike.

    Raises UsageError where two distributions offer the same name.
    """
    found: dict[str, tuple[str, EntryPoint]] = {}
    for one in installed_contents():
        for point in one.entry_points:
            if point.group != group:
                continue
            if point.name in found:
                raise UsageError(
                    f"{found[point.name][0]} and {one.name} both offer {point.name!r} as an entry "
                    f"point of {group}: uninstall one of them"
                )
            found[point.name] = (one.name, point)
    return {name: found[name][1] for name in sorted(found)}


def load_all(group: str, *, kind: type = object) -> dict[str, Any]:
    """Name -> object of a group, each of that `kind`. One that cannot be loaded is left out, with a
    warning that names it. Raises UsageError where two distributions offer the same name."""
    found: dict[str, Any] = {}
    for name, point in entry_points(group).items():
        try:
            found[name] = load(point, kind)
        except UsageError as error:
            warnings.warn(f"left out: {error}", stacklevel=2)
    return found


def load(point: EntryPoint, kind: type = object) -> Any:
    """The object of an entry point. Raises UsageError for whatever the distribution's code raises,
    and for an object of another kind."""
    try:
        value = point.load()
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
    else:
        if isinstance(value, kind):
            return value
        why = f"that is {with_article(value)}, not a {kind.__name__}"
    raise UsageError(
        f"{point.name!r} of {point.group} cannot be loaded from {point.value}: {why[:500]}; "
        "repair or uninstall its distribution"
    )


def missing_error(kind: str, name: str, *, group: str, packages: tuple[str, ...]) -> UsageError:
    """The error for a name that no installed distribution offers: the nearest that is installed,
    and the packages of this repository to install where there is none. For one that is installed
    and was left out, that."""
    valid = entry_points(group)
    if name in valid:
        return UsageError(
            f"{kind} {name!r} is installed, but its entry point {valid[name].value} is broken (a "
            "warning says how): repair or uninstall its distribution"
        )
    return UnknownNameError(
        kind, name, valid=valid, listed="" if valid else to_install(kind, *packages)
    )


def to_install(kind: str, *packages: str) -> str:
    """The words for a user who has none of a kind: `packages` are folders below `packages/`."""
    folders = " ".join(f"./packages/{name}" for name in packages)
    return f"no {kind} is installed: pip install {folders} in a checkout of unhack"


def _scan() -> Iterator[Contents]:
    for one in importlib.metadata.distributions():
        # Read first: parsing the entry points of everything that is installed takes longer.
        if f"[{_GROUPS}" not in (one.read_text("entry_points.txt") or ""):
            continue
        name = one.metadata["Name"] or "a distribution without a name"
        try:
            points = tuple(point for point in one.entry_points if point.group.startswith(_GROUPS))
            packages = _packages(one, points)
        except Exception as error:  # lines that are none: what is to be hidden is not known then
            raise UsageError(
                f"the entry points of {name} cannot be read ({type(error).__name__}: {error}): "
                "repair or uninstall it"
            ) from error
        if points:
            yield Contents(name, one.metadata["Version"] or "", packages, points)


def _packages(distribution: Distribution, points: tuple[EntryPoint, ...]) -> frozenset[str]:
    """Top-level names that it installed. An editable install lists none but what it names."""
    files = distribution.files or ()
    tops = {file.parts[0] for file in files if file.parts[0] not in _NOT_PACKAGES}
    names = {top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".pth"))}
    return frozenset({*names, *(point.module.partition(".")[0] for point in points)})
