"""Files of plans: by a name that an installed distribution gives them, and beside their runs.

A distribution names its plans in the entry point group `unhack.plans`; each is the path of a file.

Covered: the rules of the tests (table `[test]`), which stay as they were before the first run.
Not covered: what the rules mean (`report.claims`), the other tables (`sweep`).
"""

from __future__ import annotations

from pathlib import Path

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.distributions import load_all
from unhack.store.errors import storing
from unhack.store.files import write_whole
from unhack.training.config.toml import read_toml

TABLE, PLAN = "test", "plan.toml"
STUDY = "install unhack-study (`pip install ./experiments` in a checkout of unhack)"
"""The distribution that brings the project's own plans, arms and tests of claims."""


def installed_plans() -> dict[str, Path]:
    """The plan files of installed distributions by name."""
    return load_all("unhack.plans", kind=Path)


def find_plan(name: Path) -> Path:
    """The file of a plan: a path, or the name of an installed one. Raises UnknownNameError."""
    if name.exists() or len(name.parts) > 1:
        return name
    known = installed_plans()
    if name.stem in known:
        return known[name.stem]
    if name.suffix == ".toml":
        return name
    hint = "" if known else f"no plan is installed: {STUDY}, or name a file"
    raise UnknownNameError("plan", str(name), valid=known, listed=hint)


def keep_plan(plan: Path, out: Path) -> None:
    """Put the plan into the folder of its sweep, before the first run.

    Raises UsageError where the folder has a plan with other rules: what was fixed beforehand
    stays as it is. Other parts of a plan may change (more seeds, more arms).
    """
    stored = out / PLAN
    if stored.exists() and read_toml(stored).get(TABLE, {}) != read_toml(plan).get(TABLE, {}):
        raise UsageError(
            f"{plan}: its [{TABLE}] differs from that of {stored}, which was fixed before the "
            "runs; choose another folder"
        )
    with storing(out.absolute().parent):
        out.mkdir(parents=True, exist_ok=True)
        write_whole(stored, plan.read_bytes(), mode=0o644)
