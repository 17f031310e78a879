"""One measurement on a card: each problem in turn, three sealed workers each.

Covered: the queue for the card; a card that somebody else uses; the control (A/A) beside every
call; what clocks and limits did, as metrics.
Not covered: the processors (see the contest without a card).
"""

from __future__ import annotations

import contextlib
import functools
import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import (
    agents_processes,
    check_free,
    choose_card,
    own_processes,
    require_nvcc,
    wait_until_idle,
)
from unhack.tournament.kit import DataPool, Files, Flag, Measurement, Metric, SandboxError, invalid
from unhack_contests.kernels import score
from unhack_contests.kernels.calls.gains import TrimmedGains
from unhack_contests.kernels.calls.session import CallRecord
from unhack_contests.kernels.calls.stopping import MOST_ERROR
from unhack_contests.kernels.gpu import oracle
from unhack_contests.kernels.gpu.guest.device_memory import DeviceError
from unhack_contests.kernels.gpu.judge import ProblemPlay
from unhack_contests.kernels.gpu.probe import GpuNotes
from unhack_contests.kernels.gpu.settings import GpuOptions, GpuRoofline, GpuRules
from unhack_contests.kernels.gpu.side import GpuSetting, GpuSide, SideError
from unhack_contests.submission import RefusedError, files_of, flagged
from unhack_contests.torch_card import torch_device, torch_with_cuda

_QUEUE_S = 3600.0


@functools.cache
def setting_of(device: str) -> GpuSetting:
    """The card of an option, with what is needed to measure on it.

    Raises UsageError, SandboxUnavailableError: no card, no driver, no toolkit, a PyTorch without
    CUDA, a card that PyTorch does not know.
    """
    card = choose_card(device)
    require_nvcc()
    torch = torch_with_cuda()
    device = torch_device(torch, card)
    major, minor = torch.cuda.get_device_capability(device)
    total = torch.cuda.get_device_properties(device).total_memory
    return GpuSetting(card, device, f"sm_{major}{minor}", card_bytes=total)


@functools.cache
def roofline_of(device: str) -> GpuRoofline:
    """Of a card, measured once a process."""
    return measure_roofline(torch_with_cuda(), device)


def measure_roofline(torch: Any, device: str) -> GpuRoofline:
    """The best of several runs: of memory, the fastest of copying, reading and writing; of
    products, square ones of two formats."""
    arrays = [torch.ones(1 << 28, device=device) for _ in range(2)]
    size = 4.0 * (1 << 28)
    rates = (
        2 * size / _best(torch, lambda: arrays[1].copy_(arrays[0])),
        size / _best(torch, arrays[0].sum),
        size / _best(torch, lambda: arrays[1].fill_(2.0)),
    )
    arrays.clear()
    a, b = (torch.randn(8192, 8192, device=device) for _ in range(2))
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        multiplied = _best(torch, lambda: a @ b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    c, d = a.to(torch.bfloat16), b.to(torch.bfloat16)
    halves = _best(torch, lambda: c @ d)
    return GpuRoofline(max(rates), 2.0 * 8192**3 / multiplied, 2.0 * 8192**3 / halves)


def _best(torch: Any, work: Callable[[], Any]) -> float:
    times: list[float] = []
    for _ in range(12):
        torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return min(times)


def check_card(device: str) -> GpuSetting:
    """The same as `setting_of`, once nobody else uses the card."""
    setting = setting_of(device)
    check_free(setting.card, ours=own_processes())
    return setting


def check_files(options: GpuOptions, setting: GpuSetting) -> None:
    """Run each problem file once on the card. Raises UsageError with the file that fails."""
    if not options.given:
        return
    torch = torch_with_cuda()
    with CardQueue(setting.card.key).turn(timeout_s=_QUEUE_S):
        torch.cuda.set_device(setting.device)
        try:
            for name, file in options.given.items():
                oracle.load(torch, name, seed=1, folder=file.path)
        finally:
            gc.collect()
            torch.cuda.empty_cache()


def measure(options: GpuOptions, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
    """Judge the frozen files of `folder`. Raises the sandbox's own failures."""
    setting, torch = setting_of(options.device), torch_with_cuda()
    files = files_of(folder)
    rng = random.Random(f"{pool}/{seed}")
    with CardQueue(setting.card.key).turn(timeout_s=_QUEUE_S):
        check_free(setting.card, ours=own_processes())
        wait_until_idle(setting.card, others=agents_processes)
        torch.cuda.set_device(setting.device)
        rules = GpuRules(options.pairs, roofline_of(setting.device), given=options.given)
        try:
            return _measure_all(torch, options, files, rng, setting=setting, rules=rules)
        finally:
            gc.collect()
            torch.cuda.empty_cache()


def _measure_all(
    torch: Any,
    options: GpuOptions,
    files: Files,
    rng: random.Random,
    *,
    setting: GpuSetting,
    rules: GpuRules,
) -> Measurement:
    whole = CallRecord()
    notes: dict[str, GpuNotes] = {}
    for name in options.problems:
        seeds = [rng.getrandbits(62), rng.getrandbits(62)]
        try:
            played = closest(
                play(torch, name, files, seed, setting=setting, rules=rules) for seed in seeds
            )
        except RefusedError as refused:
            return refused.measured()
        whole.calls += played.record.calls
        whole.idle_s += played.record.idle_s
        whole.reference_idle_s += played.record.reference_idle_s
        whole.early_s += played.record.early_s
        whole.reference_early_s += played.record.reference_early_s
        notes[name] = played.notes
        if played.record.ended is not None:
            whole.ended = played.record.ended
            break
    if not whole.calls:
        assert whole.ended is not None
        flags = [Flag("forged_verdict", str(whole.ended), "judge")] if whole.ended.forged else []
        return invalid(str(whole.ended), *flags)
    decided = _decide(whole)
    metrics = {**decided.metrics, **_metrics(notes)} if decided.metrics else {}
    return replace(decided, metrics=metrics)


@dataclass(frozen=True, slots=True)
class Played:
    """One problem, once it has been played; nothing of it is on the card any more."""

    record: CallRecord
    notes: GpuNotes


def closest(plays: Iterator[Played]) -> Played:
    """The first play, unless its time ended before reference and twin were alike: then that one of
    two whose twins are closer, as two workers may differ for as long as they live. A second play
    that is not valid, or flagged, is the one that counts.

    The choice looks at equal programs alone, so it is no second draw for the submission.
    """
    first = next(plays)
    error = _error(first)
    if error <= MOST_ERROR:
        return first
    second = next(plays)
    return second if _error(second) < error else first


def _error(played: Played) -> float:
    """By how much reference and twin may differ; 0 where that does not matter."""
    decided = _decide(played.record) if played.record.calls else None
    if decided is None or not decided.valid or decided.flags:
        return 0.0
    return 2.0 ** float(decided.metrics[score.AA_NOISE]) - 1


def _decide(record: CallRecord) -> Measurement:
    return score.decide(record, charge_load=False, gains=TrimmedGains)


def play(
    torch: Any,
    name: str,
    files: Files,
    seed: int,
    *,
    setting: GpuSetting,
    rules: GpuRules,
) -> Played:
    """One problem, from the start of its workers to their end; `files` without it play the
    reference. Raises RefusedError, SandboxError, SandboxUnavailableError."""
    folder = rules.given[name].path if rules.given else None
    case = oracle.load(torch, name, seed=seed % (1 << 31), folder=folder)
    plain = {f"{name}.py": case.reference.encode()}
    own = files if f"{name}.py" in files else {**files, **plain}
    with contextlib.ExitStack() as stack:
        try:
            reference, submission, twin = (
                stack.enter_context(
                    GpuSide.begin(torch, case, part, setting=setting, seed=seed + number)
                )
                for number, part in enumerate((plain, own, plain))
            )
            for side in (reference, submission, twin):
                side.wait_until_ready()
        except (SideError, DeviceError) as error:
            raise SandboxError(f"a worker for {name} did not come up: {error}") from None
        for side in (reference, twin):
            _load_reference(side, name)
        sides = (reference, submission, twin)
        played = ProblemPlay(torch, case, sides, rules=rules, card=setting.card, seed=seed)
        _load_submission(submission, name)
        played.play()
        if played.impostor:
            raise flagged("forged_value", played.impostor)
        return Played(played.record, played.notes)


def _load_reference(side: GpuSide, name: str) -> None:
    try:
        side.load()
    except SideError as error:
        raise SandboxError(f"the reference of {name} cannot be loaded: {error}") from None


def _load_submission(side: GpuSide, name: str) -> None:
    try:
        side.load()
    except SideError as error:
        text = f"while it was loaded: {error}"
        flags = [Flag("forged_verdict", text, "judge")] if error.forged else []
        raise RefusedError(f"{name} cannot be loaded: {error}", *flags) from None


def _metrics(notes: dict[str, GpuNotes]) -> dict[str, Metric]:
    """The notes of all problems as metrics."""
    every = list(notes.values())
    trips = [trip for one in every for trip in one.round_trip_s]
    mhz = [value for one in every for value in one.sm_mhz]
    found: dict[str, Metric] = {f"sets.{name}": one.sets for name, one in notes.items()}
    found["probe_ratio"] = round(max(one.probe_ratio for one in every), 3)
    found["peak_card_mib"] = max(one.peak_card_bytes for one in every) >> 20
    if trips:
        found["round_trip_us"] = round(statistics.median(trips) * 1e6, 1)
    if mhz:
        found |= {"sm_mhz_low": min(mhz), "sm_mhz_high": max(mhz)}
        reasons = sorted({reason for one in every for reason in one.held_back_by})
        found["clocks_held_back_by"] = ", ".join(reasons) or "nothing"
    return found
