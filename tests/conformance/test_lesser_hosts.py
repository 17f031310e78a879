"""A host that lacks a layer runs what it can hold, refuses the rest, and says what would help."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow

LESSER = ["no-user-namespaces", "container"]
HELP = {
    "no-user-namespaces": "sysctl -w user.max_user_namespaces",
    "container": "seccomp=unconfined",
}


def layers(report: dict[str, Any]) -> dict[str, Any]:
    return {layer["name"]: layer for layer in report["layers"]}


@pytest.mark.parametrize("host", LESSER)
def test_without_namespaces_a_function_job_runs_behind_landlock(examine, uid, host: str) -> None:
    function = examine("jobs", uid=uid, host=host)["function"]
    assert function["ending"] == "exited"
    assert function["isolation"] == "landlock"
    assert function["result"] == '[0,"ok","denied"]\n'


@pytest.mark.parametrize("host", LESSER)
def test_without_namespaces_jobs_with_files_are_refused(examine, uid, host: str) -> None:
    found = examine("jobs", uid=uid, host=host)
    for kind in ("scratch", "program"):
        assert found[kind]["ending"] == "refused"
        assert "needs namespaces" in found[kind]["error"]
        assert HELP[host] in found[kind]["error"]


def test_without_any_layer_that_suffices_nothing_runs(examine, uid) -> None:
    found = examine("jobs", uid=uid, host="no-landlock")
    assert {outcome["ending"] for outcome in found.values()} == {"refused"}
    assert "Landlock" in found["function"]["error"]


@pytest.mark.parametrize("host", LESSER)
def test_the_doctor_explains_a_host_without_namespaces(examine, uid, host: str) -> None:
    report = examine("doctor", uid=uid, host=host)
    assert report["level"] == "landlock"
    assert HELP[host] in report["explanation"]
    for name in ("user namespace", "mount namespace", "pid namespace", "uid mapping"):
        layer = layers(report)[name]
        assert not layer["present"]
        assert "unshare" in layer["detail"]
        assert HELP[host] in layer["remedy"]
        assert layer["without"]
    assert layers(report)["Landlock"]["present"]
    backends = {backend["name"]: backend for backend in report["backends"]}
    assert backends["landlock"]["available"]
    assert not backends["namespaces"]["available"]
    assert HELP[host] in backends["namespaces"]["reason"]


def test_the_doctor_says_that_nothing_can_run(examine, uid) -> None:
    report = examine("doctor", uid=uid, host="no-landlock")
    assert report["level"] == "none"
    assert not report["sound"]
    assert "CONFIG_SECURITY_LANDLOCK" in layers(report)["Landlock"]["remedy"]
