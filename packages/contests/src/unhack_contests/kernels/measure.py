"""One measurement: a submission and the plain reference, call by call, on the judge's clock.

Covered: both, and the reference once more as a control, in sealed processes of their own, on memory
that the judge owns.
Not covered: accelerators (see `gpu`).
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from unhack.tournament.kit import (
    DataPool,
    Flag,
    KernelError,
    KernelPlan,
    KernelProcess,
    Limits,
    Measurement,
    invalid,
)
from unhack_contests.kernels import honest, score
from unhack_contests.kernels.calls import buffers, inputs, roofline, session
from unhack_contests.kernels.calls.gains import MedianGains
from unhack_contests.kernels.compilation import compiler, submission
from unhack_contests.kernels.problem import KernelProblem
from unhack_contests.kernels.problems.registry import find
from unhack_contests.kernels.settings import KernelOptions
from unhack_contests.submission import RefusedError

_POOLS = {pool: number for number, pool in enumerate(DataPool)}
_LOAD_S = 120.0
"""Wall seconds; what loading takes is charged by its CPU time."""


def stream(pool: DataPool, seed: int) -> np.random.Generator:
    """The random stream of one draw."""
    return np.random.default_rng([_POOLS[pool], seed % (1 << 63)])


def measure(options: KernelOptions, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
    """Judge the frozen files of `folder`. Raises the sandbox's own failures."""
    problems = [find(name) for name in options.problems]
    try:
        handed = submission.take(folder, problems)
    except RefusedError as refused:
        return refused.measured()
    rng = stream(pool, seed)
    made = inputs.groups(
        problems, rng, small=options.small,
        listed=options.pairs, hidden=options.hidden_pairs,
    )  # fmt: skip
    turns = inputs.schedule(made, rng)
    size = buffers.shared_bytes((group.problem, group.sizes) for group in made)
    plain = submission.Submission(
        "kernel.so", {"kernel.so": compiler.compile_trusted(honest.reference_text(problems))}
    )
    with (
        compiler.stage(plain.files) as plain_folder,
        compiler.stage(handed.files) as own_folder,
        _process(options, plain_folder, plain, size) as reference,
        _process(options, own_folder, handed, size) as own,
        _process(options, plain_folder, plain, size) as twin,
    ):
        names = [problem.name for problem in problems]
        sides = (
            session.KernelSide(reference, names),
            session.KernelSide(own, names, python=handed.python),
            session.KernelSide(twin, names),
        )
        sides[0].load(_LOAD_S)
        sides[2].load(_LOAD_S)
        try:
            sides[1].load(_LOAD_S)
        except KernelError as error:
            return _not_loaded(error)
        record = session.play(turns, sides, rng, _rules(options))
        if not handed.python and score.loads_long(record):
            with _process(options, own_folder, handed, size) as once_more:
                record.again_cpu_s = _load_cpu_s(session.KernelSide(once_more, names))
    gains = functools.partial(MedianGains, seed)
    return score.decide(record, charge_load=not handed.python, gains=gains)


def _rules(options: KernelOptions) -> session.SessionRules:
    machine = roofline.measure()

    def floor(group: inputs.CallGroup) -> float:
        traffic, flops = group.problem.traffic(group.sizes), group.problem.flops(group.sizes)
        return machine.floor_s(traffic, flops, cores=honest.CORES)

    thrash = 1 << 20 if options.small else min(128 << 20, 2 * session.cache_bytes())
    return session.SessionRules(thrash, floor)


def _process(
    options: KernelOptions, folder: Path, made: submission.Submission, size: int
) -> KernelProcess:
    threads = str(options.threads)
    plan = KernelPlan(
        shared_bytes=size,
        functions=tuple((problem.name, _kinds(problem)) for problem in map(find, options.problems)),
        preload=made.preload,
        programs=made.programs,
        environ={
            "OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "passive",
            "NUMBA_NUM_THREADS": threads,
        },
    )  # fmt: skip
    return KernelProcess(folder, entry=made.entry, plan=plan, limits=_limits())


def _load_cpu_s(side: session.KernelSide) -> float | None:
    """CPU seconds for loading; None where it does not load this time."""
    try:
        side.load(_LOAD_S)
    except KernelError:
        return None
    return side.load_cpu_s


def _not_loaded(error: KernelError) -> Measurement:
    flags = [
        Flag("forged_verdict", f"while it was loaded: {error}", "judge")
        for seen in (error.forged, error.left)
        if seen
    ]
    return invalid(f"it cannot be loaded: {error}", *flags)


def _kinds(problem: KernelProblem) -> tuple[object, ...]:
    arrays = [[array.dtype, len(array.shape), array.out] for array in problem.arrays]
    return (*arrays, *("i" for _ in problem.size_names()))


@functools.cache
def _limits() -> Limits:
    return Limits(
        wall_s=1800.0, cpu_s=1800.0, memory_bytes=2 << 30, processes=4 * honest.CORES + 8,
        soft_slice_s=3600.0,
    )  # fmt: skip
