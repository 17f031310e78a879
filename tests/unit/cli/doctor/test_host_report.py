from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from unhack.cli.doctor.screen import host_report
from unhack.sandbox.conformance import CheckResult, CheckState
from unhack.sandbox.doctor.diagnosis import BackendReport, HostReport, LayerReport
from unhack.sandbox.doctor.installation import InstallationReport

GOOD = LayerReport("seccomp", True, "", "forbidden calls", "nothing runs", "")
LOST = LayerReport("Landlock", False, "ENOSYS", "opening files", "no second wall", "Linux 5.13")
HELD = CheckResult("time is limited", CheckState.PASSED)
BROKEN = CheckResult("no file can be read", CheckState.FAILED, "it read\n /etc/passwd")
ALSO = CheckResult("no socket opens", CheckState.FAILED, "it read /etc/passwd")


def shown(report: HostReport) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False, markup=False)
    for part in host_report(report):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def make(*results: CheckResult, layers: tuple[LayerReport, ...] = (GOOD,)) -> HostReport:
    backend = BackendReport("namespaces", True, "", results)
    return HostReport("6.1", "x86_64", "3.11", 1000, layers, "namespaces", "all runs", (backend,))


def test_a_missing_layer_is_explained_with_its_remedy() -> None:
    text = shown(make(HELD, layers=(GOOD, LOST)))
    assert "Landlock is missing: ENOSYS" in text
    assert "without it: no second wall" in text
    assert "remedy: Linux 5.13" in text
    assert "seccomp is missing" not in text


def test_failed_checks_are_named_and_those_with_one_reason_share_it() -> None:
    text = shown(make(HELD, BROKEN, ALSO))
    assert "FAILED: no file can be read" in text
    assert "FAILED: no socket opens" in text
    assert text.count("reason: it read /etc/passwd") == 1
    assert "some of its checks FAILED" in text
    assert "time is limited" not in text


def test_a_sound_host_is_said_to_be_so() -> None:
    text = shown(make(HELD))
    assert "Isolation: namespaces" in text
    assert "all its checks hold" in text


def test_checks_that_were_not_run_are_not_said_to_hold() -> None:
    text = shown(make())
    assert "checks not run" in text
    assert "hold" not in text


def test_no_isolation_is_said_plainly() -> None:
    report = replace(make(), level="none", explanation="no job can be isolated: user namespaces")
    assert not report.sound
    assert "No isolation: no job can be isolated: user namespaces" in shown(report)


def test_an_optional_layer_is_no_alarm() -> None:
    extra = replace(LOST, name="overlays", remedy="Linux 6.6 or later", optional=True)
    text = shown(make(HELD, layers=(GOOD, extra)))
    assert "Optional: overlays is not available" in text
    assert "to add it: Linux 6.6 or later" in text
    assert "is missing" not in text


def test_checks_of_a_level_that_is_not_in_use_are_told_and_decide_nothing() -> None:
    report = make(HELD)
    other = BackendReport("landlock", True, "", (BROKEN,))
    both = replace(report, backends=(*report.backends, other))
    text = shown(both)
    assert both.sound
    assert "landlock: FAILED: no file can be read" in text
    assert "failed at landlock do not matter" in " ".join(text.split())


def test_an_installation_that_jobs_cannot_read_is_an_alarm_with_its_remedy() -> None:
    found = InstallationReport(
        "/tmp/py/bin/python3", "/installed/tmp/py/bin/python3", ("/tmp/py/site-packages",),
        ("acme (/srv/acme)",), "",
    )  # fmt: skip
    told = shown(replace(make(HELD), installation=found))
    assert "in jobs /installed/tmp/py/bin/python3" in told
    assert "acme (/srv/acme)" in told
    assert replace(make(HELD), installation=found).sound
    closed = replace(make(HELD), installation=replace(found, fault="chmod -R o+rX numpy"))
    assert not closed.sound
    assert "jobs do not find it: chmod -R o+rX numpy" in shown(closed)
