"""The doctor's report for people, with the workers that a batch of this process gets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from unhack.cli.verdict_table import ColumnStyle, plain_table
from unhack.sandbox.conformance import CheckState
from unhack.sandbox.doctor.diagnosis import BackendReport, HostReport, LayerReport
from unhack.sandbox.doctor.installation import InstallationReport
from unhack.sandbox.job import Isolation
from unhack.sandbox.pool.worker_start import SLOTS
from unhack.tasks.execution.choosing import SHARDS, shards_and_slots


@dataclass(frozen=True, slots=True)
class Workers:
    """As `run_batch` has them unless it is told otherwise."""

    workers: int
    shards: int
    """Processes that the workers are shared out to; 1: all are this process's own."""
    cores: int
    """That this process may use."""
    set_by: tuple[str, ...]
    """Environment variables that say so, as NAME=VALUE."""

    @classmethod
    def here(cls) -> Workers:
        """Those of this machine and environment. Raises UsageError for a variable that holds no
        number."""
        shards, workers = shards_and_slots()
        told = tuple(
            f"{name}={os.environ[name]}" for name in (SLOTS, SHARDS) if os.environ.get(name)
        )
        return cls(workers, shards, len(os.sched_getaffinity(0)), told)


BACKENDS = (Isolation.NAMESPACES, Isolation.LANDLOCK)
"""The levels that the doctor examines."""


def host_report(report: HostReport) -> Iterator[RenderableType]:
    """The report from top to bottom, ready to print."""
    user = "root" if report.uid == 0 else f"uid {report.uid}"
    where = f" in {report.place}" if report.place else ""
    yield Text(
        f"Linux {report.kernel} on {report.machine}, Python {report.python}, "
        f"running as {user}{where}"
    )
    yield ""
    yield _layer_table(report)
    for layer in report.layers:
        if not layer.present:
            yield ""
            yield from _missing(layer)
    yield ""
    yield _backend_table(report)
    for backend in report.backends:
        yield from _failures(backend)
    yield ""
    if report.installation is not None:
        yield from _installation(report.installation)
    yield _conclusion(report)


def workers_told(found: Workers) -> Text:
    """The workers of a batch, in one line."""
    one = "worker" if found.workers == 1 else "workers"
    where = "this process" if found.shards == 1 else f"{found.shards} shards"
    core = "core" if found.cores == 1 else "cores"
    why = f"{', '.join(found.set_by)}; " if found.set_by else ""
    return Text(f"Batches: {found.workers} {one} in {where} ({why}{found.cores} {core} here)")


def _mark(good: bool) -> Text:
    return Text("yes", style="green") if good else Text("no", style="bold red")


def _installation(found: InstallationReport) -> Iterator[Text]:
    moved = found.python_inside != found.python
    inside = f" (in jobs {found.python_inside})" if moved else ""
    yield Text(f"Installation: {found.python}{inside}, packages of {', '.join(found.packages)}")
    if found.beside:
        yield Text(
            f"  shown only to jobs that preload their modules: {', '.join(found.beside)}; "
            "`pip install` without --editable shows a package to every judge"
        )
    if found.fault:
        yield Text(f"  jobs do not find it: {found.fault}", style="bold red")


def _layer_table(report: HostReport) -> Table:
    table = plain_table({"layer": "whole", "here": "whole", "protects against": ""})
    for layer in report.layers:
        name = f"{layer.name} ({layer.detail})" if layer.present and layer.detail else layer.name
        mark = Text("optional", style="dim") if _unneeded(layer) else _mark(layer.present)
        table.add_row(Text(name), mark, Text(layer.stops))
    return table


def _unneeded(layer: LayerReport) -> bool:
    return layer.optional and not layer.present


def _missing(layer: LayerReport) -> Iterator[Text]:
    if layer.optional:
        yield Text(f"Optional: {layer.name} is not available ({layer.detail}).")
        yield Text(f"  without it: {layer.without}")
        yield Text(f"  to add it: {layer.remedy}")
        return
    yield Text(f"{layer.name} is missing: {layer.detail}", style="red")
    yield Text(f"  without it: {layer.without}")
    yield Text(f"  remedy: {layer.remedy}")


def _backend_table(report: HostReport) -> Table:
    states: dict[str, ColumnStyle] = dict.fromkeys([state.value for state in CheckState], "right")
    table = plain_table({"backend": "whole", "starts": "whole", **states, "why not": ""})
    for backend in report.backends:
        counts = [_count(backend, state) for state in CheckState]
        table.add_row(backend.name, _mark(backend.available), *counts, Text(backend.reason))
    return table


def _count(backend: BackendReport, state: CheckState) -> Text:
    """The number of checks in a state; a dash where none was run."""
    if not backend.results:
        return Text("-", style="dim")
    count = backend.count(state)
    return Text(str(count), style="bold red" if state is CheckState.FAILED and count else "")


def _failures(backend: BackendReport) -> Iterator[Text]:
    """The checks that failed, those with the same reason together."""
    claims: dict[str, list[str]] = {}
    for result in backend.results:
        if result.state is CheckState.FAILED:
            claims.setdefault(" ".join(result.reason.split()), []).append(result.claim)
    for reason, broken in claims.items():
        yield Text("")
        for claim in broken:
            yield Text(f"{backend.name}: FAILED: {claim}", style="red")
        yield Text(f"  reason: {reason}")


def _conclusion(report: HostReport) -> Text:
    style = "green" if report.sound else "bold red"
    if report.level == "none":
        return Text(f"No isolation: {report.explanation}", style=style)
    checked = any(backend.results for backend in report.backends)
    failed = [item.name for item in report.backends if item.count(CheckState.FAILED)]
    bad = report.level in failed
    said = "some of its checks FAILED, see above" if bad else "all its checks hold"
    unused = [name for name in failed if name != report.level]
    if unused:
        said += f" (those that failed at {' and '.join(unused)} do not matter: it is not in use)"
    tail = f"; {said}" if checked else "; checks not run"
    return Text(f"Isolation: {report.level} ({report.explanation}){tail}", style=style)
