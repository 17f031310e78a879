"""The doctor's report, on the host as it is (`tests/conformance` cuts hosts down)."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from unhack.sandbox.conformance import CheckResult, CheckState
from unhack.sandbox.doctor import diagnosis
from unhack.sandbox.doctor.diagnosis import BackendReport, HostReport


@pytest.fixture(scope="module")
def report() -> HostReport:
    return diagnosis.examine(checks=False)


@pytest.mark.slow
def test_the_report_is_plain_json(report: HostReport) -> None:
    data = json.loads(json.dumps(report.to_json()))
    assert data["level"] == report.level
    assert len(data["layers"]) == len(report.layers) >= 12
    assert data["uid"] == os.geteuid()


@pytest.mark.slow
def test_a_layer_has_a_remedy_exactly_when_it_is_missing(report: HostReport) -> None:
    assert report.layers
    for layer in report.layers:
        assert bool(layer.remedy) is not layer.present, layer.name


def test_the_level_is_that_of_an_available_backend(report: HostReport) -> None:
    available = {backend.name for backend in report.backends if backend.available}
    assert report.level in available | {"none"}
    assert [backend.name for backend in report.backends] == ["namespaces", "landlock"]


def test_a_backend_gives_a_reason_exactly_when_it_is_not_available(report: HostReport) -> None:
    assert report.backends
    for backend in report.backends:
        assert bool(backend.reason) is not backend.available, backend.name


def test_without_checks_no_claim_is_reported(report: HostReport) -> None:
    assert all(backend.results == () for backend in report.backends)


def _with(report: HostReport, state: CheckState) -> HostReport:
    results = (CheckResult("a claim", state, "because"),)
    return replace(report, backends=(BackendReport("namespaces", True, "", results),))


def test_one_failed_check_makes_the_host_unsound(report: HostReport) -> None:
    working = replace(report, level="namespaces")
    assert _with(working, CheckState.PASSED).sound
    assert _with(working, CheckState.NOT_APPLICABLE).sound
    assert not _with(working, CheckState.FAILED).sound


def test_a_host_that_isolates_nothing_is_unsound(report: HostReport) -> None:
    assert not replace(report, level="none", backends=()).sound


def test_counts_are_by_state(report: HostReport) -> None:
    backend = _with(report, CheckState.FAILED).backends[0]
    assert [backend.count(state) for state in CheckState] == [0, 1, 0]


@pytest.mark.slow
def test_the_layers_are_tried_for_real() -> None:
    said = diagnosis.try_layers()
    assert said["no-new-privs"] == said["rlimits"] == ""
