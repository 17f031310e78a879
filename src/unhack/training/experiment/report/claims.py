"""Claims in a report: tested by a distribution that is installed, shown here.

The distribution names one module in the entry point group `unhack.claims`. It has
`check_rules(plan)`, which raises UsageError for rules that cannot be read, and
`decide(arms, paths, plan)`, which gives a `ClaimsReport`.

Covered: reports without such a distribution, which have no claims. Not covered: the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.sandbox.distributions import entry_points, load
from unhack.training.config.toml import read_toml
from unhack.training.experiment.plan_files import STUDY, TABLE

_GROUP = "unhack.claims"
MISSING = f"claims are not tested; for that {STUDY}"


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """The part of a report that tests of claims add."""

    arm: str
    """The routed arm that the claims are about."""
    margin: float
    """Largest gap by which deployed solve may lie below the ceiling's."""
    fixed: bool
    """True where a plan fixed the rules beforehand."""
    supported: bool
    """True where every claim is."""
    record: Mapping[str, Any]
    """Plain data, merged into that of the report."""
    lines: tuple[Any, ...]
    """For a terminal, as rich renders them."""
    claims_html: str
    tests_html: str


def find_claims(*, needed_by: str = "") -> Any:
    """The module that tests claims, None where none is installed.

    Raises UsageError where there are several, and where `needed_by` (an option or a table) asks
    for one and there is none.
    """
    points = entry_points(_GROUP)
    if len(points) > 1:
        raise UsageError(f"{', '.join(points)} all test claims ({_GROUP}): uninstall all but one")
    if needed_by and not points:
        raise UsageError(f"{needed_by} needs tests of claims: {STUDY}")
    return next((load(point) for point in points.values()), None)


def check_rules(plan: Path) -> None:
    """Raise UsageError for a plan whose rules of tests cannot be read."""
    if TABLE in read_toml(plan):
        find_claims(needed_by=f"{plan}: [{TABLE}]").check_rules(plan)
