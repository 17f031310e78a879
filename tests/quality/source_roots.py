"""Source files of every distribution: the engine's, those of `packages/`, and the project's study.

Covered: modules of packages. A folder without `__init__.py`, and all below it, is data: tasks,
planted verifiers, programs that run in a sandbox. Not covered: scripts and examples.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def source_roots(root: Path = ROOT) -> list[Path]:
    """The top folder of each package that the repository's distributions install."""
    places = ("src/*", "packages/*/src/*", "experiments/src/*")
    found = [folder for place in places for folder in root.glob(place)]
    return sorted(folder for folder in found if (folder / "__init__.py").is_file())


def roots_of_tests(root: Path = ROOT) -> list[Path]:
    """The folder of tests of each distribution."""
    return [root / "tests", *sorted(root.glob("packages/*/tests")), root / "experiments" / "tests"]


def modules_of(package: Path) -> list[Path]:
    """The modules of a package, its own folder first."""
    found = sorted(package.glob("*.py"))
    for folder in sorted(package.iterdir()):
        if (folder / "__init__.py").is_file():
            found += modules_of(folder)
    return found
