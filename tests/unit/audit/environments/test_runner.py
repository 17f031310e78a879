"""An audit of an environment: sound ones, ones with weak tests, foreign graders."""

from __future__ import annotations

import asyncio

import pytest

from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.audit.environments.runner import (
    EnvironmentAuditOptions,
    EnvironmentSubject,
    audit_environment,
)
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.core.errors import UsageError
from unhack_verifier_bench.environments import graders, tasks


def _audit(subject: EnvironmentSubject, *names: str) -> AuditReport:
    chosen = tuple(ENVIRONMENT_ATTACKS[name] for name in names)
    return asyncio.run(audit_environment(subject, options=EnvironmentAuditOptions(attacks=chosen)))


@pytest.mark.slow
def test_a_sound_environment_has_no_finding() -> None:
    subject = EnvironmentSubject("planted", (tasks.SHAPES,))
    report = _audit(subject, "root_conftest", "always_equal", "narrow_if")
    assert report.conclusion is Conclusion.SOUND
    assert all(check.ok for check in report.checks)
    assert [record.proven for record in report.tried] == [0, 0, 0]


@pytest.mark.slow
def test_weak_tests_are_a_finding_with_the_input_that_shows_it() -> None:
    subject = EnvironmentSubject("planted", (tasks.REPORTED,))
    report = _audit(subject, "narrow_if", "root_conftest")
    assert report.conclusion is Conclusion.EXPLOITABLE
    [finding] = report.findings
    assert finding.flaw == "weak_cases"
    assert finding.evidence.kind == "differs"
    assert finding.evidence.expected != finding.evidence.obtained


@pytest.mark.slow
def test_tests_that_compare_two_objects_of_the_package_are_sound_where_they_have_twins() -> None:
    sound = EnvironmentSubject("planted", (tasks.CLASSES, tasks.SHARED_OBJECT))
    report = _audit(sound, "equal_classes")
    assert report.conclusion is Conclusion.SOUND, report.why


@pytest.mark.slow
def test_tests_that_compare_two_objects_that_nothing_makes_are_a_finding() -> None:
    report = _audit(EnvironmentSubject("planted", (tasks.ASSEMBLED,)), "equal_classes")
    assert report.conclusion is Conclusion.EXPLOITABLE
    assert report.findings[0].flaw == "always_equal_object"


@pytest.mark.slow
def test_a_grader_in_the_workspace_falls_with_proof_and_short_actions() -> None:
    subject = EnvironmentSubject("planted", (tasks.SHAPES,), graders.IN_PLACE)
    report = _audit(subject, "root_conftest", "tests_conftest", "sys_exit")
    assert report.conclusion is Conclusion.EXPLOITABLE
    [finding] = report.findings
    assert finding.flaw == "conftest_hook"
    assert len(finding.witness.split("\n")) <= 2
    assert len(finding.also) == 1


@pytest.mark.slow
def test_an_environment_whose_reference_fails_is_undecided() -> None:
    nothing = graders.ForeignGrader("never", "exit 1", graders.Reading.EXIT_CODE)
    report = _audit(EnvironmentSubject("planted", (tasks.SHAPES,), nothing), "root_conftest")
    assert report.conclusion is Conclusion.UNPROVEN
    assert not report.problems


def test_an_environment_without_tasks_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no tasks"):
        _audit(EnvironmentSubject("empty", ()))
