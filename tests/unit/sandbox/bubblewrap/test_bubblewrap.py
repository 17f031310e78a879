"""What the bubblewrap backend does beyond the claims of `conformance`."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from unhack.core.errors import PoolClosedError, SandboxUnavailableError
from unhack.sandbox.bubblewrap import backend as bubblewrap
from unhack.sandbox.bubblewrap.backend import BubblewrapBackend
from unhack.sandbox.conformance.probe import LIMITS, Probe, lines
from unhack.sandbox.job import Ending, Isolation, Kind, Outcome, Profile, Role, run_all, run_one
from unhack.sandbox.linux import cgroups, processes

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
SLEEP = "import time\ndef f(seconds): time.sleep(seconds)"
SOURCE = Path(bubblewrap.__file__).parents[3]


@pytest.fixture
def backend() -> Generator[BubblewrapBackend]:
    made = BubblewrapBackend(slots=1)
    yield made
    made.close()


@pytest.fixture
def probe(backend: BubblewrapBackend) -> Probe:
    return Probe(backend)


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether `condition` comes true while a patient person waits."""
    deadline = time.monotonic() + 60.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def processes_with(token: str) -> list[int]:
    return [pid for pid, words in processes.command_lines().items() if token.encode() in words]


def test_a_missing_bubblewrap_is_an_error_that_names_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        BubblewrapBackend()


def test_a_bubblewrap_that_cannot_work_is_an_error_with_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "bwrap"
    script.write_text("#!/bin/sh\necho 'bwrap: no namespaces today' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxUnavailableError, match="no namespaces today"):
        bubblewrap.find()


def test_every_outcome_names_the_level(backend: BubblewrapBackend, probe: Probe) -> None:
    outcome = run_one(backend, probe.job("def f(): return 1", [[]]))
    assert backend.isolation is outcome.isolation is Isolation.BUBBLEWRAP


def test_a_straggler_gives_up_its_slot(backend: BubblewrapBackend, probe: Probe) -> None:
    order: list[str] = []
    ended = threading.Semaphore(0)

    def note(name: str) -> Callable[[Outcome], None]:
        def done(outcome: Outcome) -> None:
            order.append(f"{name} {outcome.ending}")
            ended.release()

        return done

    limits = LIMITS.with_(wall_s=100.0, soft_slice_s=0.05)
    slow = backend.submit(probe.job(SLEEP, [[60]], limits=limits), note("slow"))
    backend.submit(probe.job("def f(): return 1", [[]]), note("quick"))
    ended.acquire()
    slow.cancel()
    ended.acquire()
    assert order == ["quick exited", "slow stopped"]


def test_a_job_that_waits_does_not_use_up_its_time(
    backend: BubblewrapBackend, probe: Probe
) -> None:
    limits = LIMITS.with_(wall_s=4.0, soft_slice_s=4.0)
    jobs = [probe.job(SLEEP, [[0.5]], limits=limits) for _ in range(10)]
    assert [outcome.ending for outcome in run_all(backend, jobs)] == [Ending.EXITED] * 10


def test_closing_stops_what_runs_and_what_waits(probe: Probe) -> None:
    backend = BubblewrapBackend(slots=1)
    outcomes: list[Outcome] = []
    for _ in range(3):
        backend.submit(probe.job(SLEEP, [[60]]), outcomes.append)
    backend.close()
    assert [outcome.ending for outcome in outcomes] == [Ending.STOPPED] * 3
    with pytest.raises(PoolClosedError):
        backend.submit(probe.job(SLEEP, [[60]]), outcomes.append)


def test_a_bind_that_does_not_exist_is_refused_by_name(
    backend: BubblewrapBackend, probe: Probe
) -> None:
    profile = Profile(binds=(("/no/such/file", "/data"),))
    outcome = run_one(backend, probe.job("def f(): return 1", [[]], profile=profile))
    assert outcome.ending is Ending.REFUSED
    assert "/no/such/file" in outcome.error


def test_a_sandbox_that_fails_is_tried_again_and_then_reported(
    backend: BubblewrapBackend, probe: Probe
) -> None:
    profile = Profile(preload=("a_module_that_nobody_has",))
    outcome = run_one(backend, probe.job("def f(): return 1", [[]], profile=profile))
    assert outcome.ending is Ending.BROKEN
    assert outcome.attempts == 2
    assert "a_module_that_nobody_has" in outcome.error


def test_only_what_is_preloaded_of_site_packages_can_be_read(
    probe: Probe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "site-packages"
    for name in ("wanted", "unwanted", "unhack"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text("value = 3")
    for folder in (tmp_path, site):
        folder.chmod(0o755)
    monkeypatch.syspath_prepend(str(site))
    source = """
def f(folder):
    import wanted
    seen = [wanted.value]
    for name in ("unwanted", "unhack"):
        try:
            seen.append(open(folder + "/" + name + "/__init__.py").read())
        except OSError:
            pass
    return seen
"""
    profile = Profile(preload=("wanted",))
    assert probe.ask(source, [str(site)], profile=profile) == [3]


def test_no_reference_solution_of_the_package_is_visible(probe: Probe) -> None:
    source = """
import os
def f():
    return sorted(name for top, folders, _ in os.walk("/.guest") for name in folders)
"""
    assert "suites" not in probe.ask(source)
    assert "tasks" not in probe.ask(source)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has one uid to give")
def test_no_two_jobs_of_root_share_a_uid(probe: Probe) -> None:
    backend = BubblewrapBackend(slots=2)
    source = "import os, time\ndef f():\n time.sleep(0.5)\n return os.getuid()"
    profiles = [Profile(), Profile(), Profile(role=Role.JUDGE), Profile(kind=Kind.SCRATCH)]
    jobs = [probe.job(source, [[]], profile=profile) for profile in profiles]
    uids = [lines(outcome.result)[0][2] for outcome in run_all(backend, jobs)]
    backend.close()
    assert len(set(uids)) == 4


def test_no_control_group_is_left(backend: BubblewrapBackend, probe: Probe) -> None:
    run_one(backend, probe.job("def f(): return 1", [[]]))
    parents = cgroups.find_parents().directories()
    assert [one for parent in parents for one in parent.glob(f"unhack-{os.getpid()}-*cell*")] == []


def orphans() -> list[int]:
    """Bubblewrap processes, half-made children included, whose parent is gone."""
    found: list[int] = []
    for pid in processes.pids():
        with contextlib.suppress(OSError):
            _, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(bwrap) ")
            if rest and rest.split()[1] == "1":
                found.append(pid)
    return found


def test_jobs_that_are_cancelled_while_bubblewrap_starts_leave_nothing(probe: Probe) -> None:
    backend = BubblewrapBackend(slots=8)
    outcomes: list[Outcome] = []
    ended = threading.Semaphore(0)
    for delay_ms in range(0, 16, 2):
        ticket = backend.submit(
            probe.job(SLEEP, [[60]]), lambda outcome: (outcomes.append(outcome), ended.release())
        )
        time.sleep(delay_ms / 1000)
        ticket.cancel()
    for _ in range(8):
        ended.acquire()
    backend.close()
    assert {outcome.ending for outcome in outcomes} == {Ending.STOPPED}
    assert eventually(lambda: not orphans())


HOST = """
import os, sys, time
from unhack.sandbox.bubblewrap.backend import BubblewrapBackend
from unhack.sandbox.conformance.probe import Probe
from unhack.sandbox.rootfs import interpreter
from unhack.sandbox.job import Kind, Profile
from unhack.sandbox.conformance import probe as probes
probe = Probe(BubblewrapBackend(slots=1))
source = "import sys, time; print(1, flush=True); time.sleep(300)"
argv = [interpreter(), "-I", "-S", "-c", source, sys.argv[1]]
fields = {"argv": argv, "env": {}, "files": {}, "collect": [], "collect_bytes": 0}
delay_s = float(sys.argv[2])
job = probes.message("program", fields, limits=probes.LIMITS.with_(wall_s=200.0),
                     profile=Profile(kind=Kind.PROGRAM))
probe.start(job)
if delay_s:
    time.sleep(delay_s)
    os.kill(os.getpid(), 9)
time.sleep(300)
"""


@pytest.mark.slow
def test_killing_the_host_ends_bubblewrap_and_the_job() -> None:
    token = f"token-{os.getpid()}-{time.monotonic_ns()}"
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    host = subprocess.Popen([sys.executable, "-c", HOST, token, "0"], env=environ)
    try:
        # The host itself and the program that it runs.
        assert eventually(lambda: len(processes_with(token)) == 2)
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    assert eventually(lambda: not processes_with(token))
    assert eventually(lambda: not orphans())


def test_a_host_that_dies_while_bubblewrap_starts_leaves_nothing() -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    for delay_s in ("0.001", "0.004", "0.008", "0.015", "0.03", "0.06"):
        command = [sys.executable, "-c", HOST, "early", delay_s]
        assert subprocess.run(command, env=environ, check=False).returncode == -signal.SIGKILL
    assert eventually(lambda: not orphans())
