"""Tests of the dev split: the share that passes, and what the step mended or broke.

Covered: a test that is missing after the step counts as failed; a test that was not among the
expected ones counts for nothing, so that a policy earns nothing by adding tests.
Not covered: how the tests were run; the mappings must come from the judge, never from a workspace.
"""

from __future__ import annotations

from collections.abc import Mapping

from unhack.core.errors import UsageError
from unhack.environments.steps.score import StepScore, listed


def judge_tests(before: Mapping[str, bool], after: Mapping[str, bool]) -> StepScore:
    """The share of the tests of `before` that pass in `after`; both map test id -> passed.

    Raises UsageError where there is no test.
    """
    if not before:
        raise UsageError("a judge of tests needs at least one test of the dev split")
    passed = {name: after.get(name, False) is True for name in before}
    gained = sorted(name for name in before if passed[name] and before[name] is not True)
    broken = sorted(name for name in before if before[name] is True and not passed[name])
    absent = sorted(name for name in before if name not in after)
    count = sum(passed.values())
    words = [f"{count} of {len(before)} tests pass"]
    words += [f"newly passing: {listed(gained)}"] if gained else []
    words += [f"broken: {listed(broken)}"] if broken else []
    evidence = {"gained": gained, "broken": broken, "absent": absent, "passed": count}
    return StepScore("tests", count / len(before), "; ".join(words), evidence)
