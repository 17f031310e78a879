"""The layers of isolation that this host offers, and the result of each backend's checks.

Covered: every layer is tried, not looked up; each missing one is explained with what it costs and
what brings it; the level that a pool picks; the conformance checks of every backend that starts.
Not covered: attacks on the kernel itself, and what happens to a host after it was examined.

Nothing here prints: the report is data (`HostReport.to_json`), for the command line to render.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from unhack.core.errors import SandboxUnavailableError, UnhackError
from unhack.sandbox import conformance
from unhack.sandbox.conformance.probe import LIMITS, NO_ARGUMENTS, CheckResult, CheckState, Probe
from unhack.sandbox.doctor import gpu
from unhack.sandbox.doctor.installation import InstallationReport, examine_installation
from unhack.sandbox.doctor.layers import LAYERS, Layer
from unhack.sandbox.doctor.place import find_place
from unhack.sandbox.job import Backend, Ending, Isolation
from unhack.sandbox.linux import capabilities
from unhack.sandbox.linux.capabilities import Capabilities
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.rootfs import interpreter

_SOURCE = str(Path(__file__).resolve().parents[3])
_TRIAL_S = 60.0
OnResult = Callable[[str, CheckResult], None]


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer on this host."""

    name: str
    present: bool
    detail: str
    """A version when present, what the kernel said when not."""
    stops: str
    """The acts of a job that the layer protects against."""
    without: str
    """The loss where it is missing."""
    remedy: str
    """The way to get it; empty when it is present."""
    optional: bool = False
    """True where its absence weakens nothing."""


@dataclass(frozen=True, slots=True)
class BackendReport:
    """One backend, at one level."""

    name: str
    """`namespaces`, `landlock`, or `gpu`: a sealed process with a card."""
    available: bool
    reason: str
    """The reason why it cannot run here, and what would help; empty when it can."""
    results: tuple[CheckResult, ...] = ()
    """The conformance checks; empty when they were not asked for."""

    def count(self, state: CheckState) -> int:
        """The number of checks that came out as `state`."""
        return sum(result.state is state for result in self.results)


@dataclass(frozen=True, slots=True)
class HostReport:
    """The whole examination."""

    kernel: str
    machine: str
    python: str
    uid: int
    layers: tuple[LayerReport, ...]
    level: str
    """A pool's own choice: `namespaces`, `landlock`, or `none` when it refuses to run."""
    explanation: str
    """The meaning of the level for jobs, and what would raise it."""
    backends: tuple[BackendReport, ...]
    installation: InstallationReport | None = None
    """Python and its packages as jobs find them; None where no level works."""
    place: str = ""
    """`a Kubernetes pod`, `a container`, `a Slurm job`, or empty."""

    @property
    def sound(self) -> bool:
        """True when some level works, no check of the backend in use failed, and jobs find Python
        and its packages."""
        if self.installation is not None and self.installation.fault:
            return False
        used = [backend for backend in self.backends if backend.name == self.level]
        failed = sum(backend.count(CheckState.FAILED) for backend in used)
        return self.level != "none" and failed == 0

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {**asdict(self), "sound": self.sound}


def try_layers() -> dict[str, str]:
    """Name of a mechanism -> what the kernel said when it was tried; empty when it works."""
    code = (
        f"import sys; sys.path.insert(0, {_SOURCE!r}); "
        "from unhack.sandbox.doctor.trials import main; main()"
    )
    command = [interpreter(), "-S", "-s", "-P", "-B", "-c", code]
    try:
        done = subprocess.run(
            command,
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRIAL_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _no_trials(f"no answer after {_TRIAL_S:.0f} s") from None
    try:
        return json.loads(done.stdout)
    except ValueError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise _no_trials("".join(last)) from None


def _no_trials(why: str) -> SandboxUnavailableError:
    return SandboxUnavailableError(f"the trials of the sandbox's layers did not run: {why}")


def _layer(layer: Layer, said: dict[str, str], facts: Capabilities) -> LayerReport:
    error = said[layer.trial]
    remedy = layer.remedy
    if error and layer.needs_namespaces and facts.obstacles:
        remedy = "; ".join(facts.obstacles)
    place = find_place()
    if error and layer.needs_namespaces and place is not None:
        remedy = f"{remedy}; in {place.name}: {place.remedy}"
    return LayerReport(
        name=layer.name,
        present=not error,
        detail=error or layer.version(facts),
        stops=layer.stops,
        without=layer.without,
        remedy=remedy if error else "",
        optional=layer.optional,
    )


def _gpu_layer(here: gpu.CardsHere) -> LayerReport:
    present = bool(here.cards) and not here.remedy
    return LayerReport(
        "GPU", present, here.detail, gpu.STOPS, gpu.WITHOUT, here.remedy, optional=True
    )


def _examine_gpu(
    here: gpu.CardsHere, *, checks: bool, on_result: OnResult
) -> tuple[BackendReport, ...]:
    """The claims on the first card; nothing where there is none."""
    if not here.cards:
        return ()
    if not checks:
        return (BackendReport("gpu", True, ""),)
    results, reason = gpu.check_card(
        here.cards[0], on_result=lambda result: on_result("gpu", result)
    )
    return (BackendReport("gpu", not reason, reason, results),)


def _try_backend(level: Isolation | None) -> tuple[Backend | None, str]:
    """A backend that ran a job, or None and why it did not."""
    try:
        backend = Pool(slots=1, isolation=level)
    except UnhackError as error:
        return None, _plain(str(error))
    probe = Probe(backend)
    _, wait = probe.start(probe.job("def f(): return 1", NO_ARGUMENTS, limits=LIMITS))
    outcome = wait()
    if outcome.ending is Ending.EXITED:
        return backend, ""
    backend.close()
    return None, _plain(outcome.error) or f"a trivial job ended as {outcome.ending}"


def _plain(reason: str) -> str:
    """A reason without the pointer to this report."""
    return reason.replace(capabilities.SEE_DOCTOR, "").strip()


def _examine_backend(level: Isolation, *, checks: bool, on_result: OnResult) -> BackendReport:
    backend, reason = _try_backend(level)
    if backend is None:
        return BackendReport(level.value, False, reason)
    results: list[CheckResult] = []
    try:
        if checks:
            results = conformance.run_checks(
                backend, on_result=lambda result: on_result(level.value, result)
            )
    finally:
        backend.close()
    return BackendReport(level.value, True, "", tuple(results))


def _pick() -> tuple[str, str, InstallationReport | None]:
    """The level of a pool that chooses for itself, and why it is none if it is; the installation as
    its jobs find it."""
    backend, reason = _try_backend(None)
    if backend is None:
        return "none", reason, None
    try:
        found = examine_installation(backend)
        return backend.isolation.value, "", replace(found, fault=_plain(found.fault))
    finally:
        backend.close()


def _explain(level: str, reason: str, backends: tuple[BackendReport, ...]) -> str:
    if level == "none":
        return f"no job can be isolated, so none runs: {reason}"
    if level == Isolation.NAMESPACES.value:
        return "every kind of job runs, behind every layer that is present"
    missing = next(item for item in backends if item.name == Isolation.NAMESPACES.value)
    return (
        "function jobs run behind Landlock, the system call filter and rlimits; jobs with a "
        f"private directory and programs are refused ({missing.reason})"
    )


def examine(
    *, checks: bool = True, on_result: OnResult = lambda backend, result: None
) -> HostReport:
    """Try every layer and every backend; `on_result` hears of each conformance check as it comes.

    Raises SandboxUnavailableError when even the trials cannot be run.
    """
    facts = capabilities.read_capabilities()
    said = try_layers()
    level, reason, installation = _pick()
    levels = (Isolation.NAMESPACES, Isolation.LANDLOCK)
    backends = tuple(_examine_backend(item, checks=checks, on_result=on_result) for item in levels)
    here = gpu.find_gpu()
    layers = (*(_layer(layer, said, facts) for layer in LAYERS), _gpu_layer(here))
    with_card = _examine_gpu(here, checks=checks, on_result=on_result)
    return HostReport(
        kernel=facts.kernel,
        machine=facts.machine,
        python=f"{platform.python_version()} ({sys.implementation.name})",
        uid=os.geteuid(),
        layers=layers,
        level=level,
        explanation=_explain(level, reason, backends),
        backends=(*backends, *with_card),
        installation=installation,
        place=place.name if (place := find_place()) is not None else "",
    )
