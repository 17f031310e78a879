"""The parts of the kernels' judge, one by one."""

from __future__ import annotations

import math
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.limits import Limits
from unhack.sandbox.submission.kernel import KernelError, KernelPlan, KernelProcess
from unhack.tournament.contest import Measurement, Metric, Terms
from unhack.tournament.contests.registry import load_contest
from unhack_contests.kernels import score
from unhack_contests.kernels.calls import buffers, inputs, roofline, session, verdict
from unhack_contests.kernels.calls.gains import MedianGains
from unhack_contests.kernels.calls.verdict import OutputKind, OutputVerdict
from unhack_contests.kernels.compilation import compiler, symbols
from unhack_contests.kernels.problems.registry import NAMES, find
from unhack_contests.submission import RefusedError

LIMITS = Limits(wall_s=30.0, cpu_s=20.0, soft_slice_s=60.0)
KINDS = (["float32", 1, False], ["float32", 1, True], "i")


def library(text: str) -> dict[str, bytes]:
    return {"kernel.so": compiler.compile_trusted(text)}


def worker(folder: Path, entry: str = "kernel.so", **changes: Any) -> KernelProcess:
    plan = KernelPlan(1 << 16, (("f", KINDS),), **changes)
    return KernelProcess(folder, entry=entry, plan=plan, limits=LIMITS)


@pytest.mark.slow
class TestTheWorker:
    def test_it_computes_on_the_memory_of_the_judge(self) -> None:
        loop = "for (long i = 0; i < n; i++) y[i] = x[i] + 1;"
        text = f"void f(const float *x, float *y, long n) {{ {loop} }}"
        with compiler.stage(library(text)) as folder, worker(folder) as process:
            process.load(timeout_s=60.0)
            numbers = np.frombuffer(process.memory, np.float32)
            numbers[:100] = np.arange(100)
            assert process.call(0, (0, 4096, 100), timeout_s=60.0) > 0
            assert (numbers[1024:1124] == np.arange(1, 101)).all()
            assert process.cpu_s() > 0
            assert (process.threads(), process.children(), process.speaks()) == (1, 0, False)

    def test_python_gets_arrays_and_read_only_inputs(self) -> None:
        text = b"def f(x, y, n):\n    y[:] = x * 2\n    x[0] = 1\n"
        made = compiler.stage({"solution.py": text})
        with made as folder, worker(folder, "solution.py", preload=("numpy",)) as process:
            process.load(timeout_s=60.0)
            numbers = np.frombuffer(process.memory, np.float32)
            numbers[:10] = 3
            with pytest.raises(KernelError, match="read-only"):
                process.call(0, (0, 10, 4096, 10, 10), timeout_s=60.0)
            assert (numbers[1024:1034] == 6).all()

    @pytest.mark.parametrize(
        ("body", "forged", "left", "words", "timeout_s"),
        [
            ("write(4, y, 16); y[0] = n;", True, False, "no answer", 60.0),
            ("_exit(0);", False, True, "ended", 60.0),
            ("_exit(3);", False, False, "ended", 60.0),
            ("for (;;) ;", False, False, "not done", 1.0),
        ],
    )
    def test_what_it_says_out_of_turn_is_told_apart(
        self, body: str, forged: bool, left: bool, words: str, timeout_s: float
    ) -> None:
        text = f"#include <unistd.h>\nvoid f(const float *x, float *y, long n) {{ {body} }}"
        with compiler.stage(library(text)) as folder, worker(folder) as process:
            process.load(timeout_s=60.0)
            with pytest.raises(KernelError, match=words) as caught:
                process.call(0, (0, 4096, 1), timeout_s=timeout_s)
            assert (caught.value.forged, caught.value.left) == (forged, left)

    def test_a_process_cannot_be_started_inside(self) -> None:
        text = "#include <unistd.h>\nvoid f(const float *x, float *y, long n) { y[0] = fork(); }"
        with compiler.stage(library(text)) as folder, worker(folder) as process:
            process.load(timeout_s=60.0)
            process.call(0, (0, 4096, 1), timeout_s=60.0)
            assert np.frombuffer(process.memory, np.float32)[1024] == -1

    def test_threads_and_what_they_use_are_counted(self) -> None:
        text = (
            "#include <pthread.h>\nstatic void *spin(void *a) { for (;;) ; return a; }\n"
            "void f(const float *x, float *y, long n)"
            " { pthread_t t; pthread_create(&t, 0, spin, 0); }"
        )
        with compiler.stage(library(text)) as folder, worker(folder) as process:
            process.load(timeout_s=60.0)
            process.call(0, (0, 4096, 1), timeout_s=60.0)
            before = process.cpu_s()
            while process.cpu_s() < before + 0.02:
                os.sched_yield()
            assert process.threads() == 2

    def test_a_function_that_is_not_there_cannot_be_loaded(self) -> None:
        with (
            compiler.stage(library("int g;")) as folder,
            worker(folder) as process,
            pytest.raises(KernelError, match="undefined symbol"),
        ):
            process.load(timeout_s=60.0)


class TestTheCompiler:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("#include <stdlib.h>\nvoid f(void *p) { qsort(p, 3, 4, 0); }", "library_call"),
            ('#include <stdio.h>\nvoid f(void) { fopen("x", "r"); }', "reaches_out"),
            ("#include <unistd.h>\nvoid f(void) { fork(); }", "work_after_done"),
            ("#include <stdlib.h>\nvoid f(void) { exit(0); }", "forged_verdict"),
            ('void f(void) { __asm__ volatile("syscall"); }', "reaches_out"),
            ("int clock_gettime(void) { return 0; }", "reaches_out"),
        ],
    )
    def test_calls_that_no_kernel_needs_are_flagged(self, text: str, kind: str) -> None:
        with pytest.raises(RefusedError) as caught:
            compiler.build({"solution.c": text.encode()})
        assert kind in {flag.kind for flag in caught.value.flags}

    @pytest.mark.parametrize(
        "text",
        ["#include <time.h>\nlong f(void) { return time(0); }", "no C", '#include "absent.h"'],
    )
    def test_what_is_only_wrong_is_refused_without_a_flag(self, text: str) -> None:
        with pytest.raises(RefusedError) as caught:
            compiler.build({"solution.c": text.encode()})
        assert caught.value.flags == ()

    def test_headers_of_the_submission_are_found(self) -> None:
        files = {
            "solution.c": b'#include "own.h"\nint f(void) { return ONE; }',
            "own.h": b"#define ONE 1",
        }
        assert "f" in compiler.build(files).exports

    def test_a_system_call_in_a_constant_is_no_instruction(self) -> None:
        text = b"const unsigned char f[] = {0x90, 0x0f, 0x05, 0x90};"
        assert "f" in compiler.build({"solution.c": text}).exports

    @pytest.mark.parametrize("code", [b"", b"MZ", b"\x7fELF\x02\x01" + b"\xff" * 90])
    def test_what_is_no_library_is_an_error(self, code: bytes) -> None:
        with pytest.raises(ValueError, match=r"it is no|broken"):
            symbols.read(code)


def question(name: str = "rmsnorm", seed: int = 1) -> tuple[verdict.OutputQuestion, buffers.Filled]:
    rng = np.random.default_rng(seed)
    problem = find(name)
    [group, _] = inputs.groups([problem], rng, small=True, listed=1, hidden=1)
    given = inputs.fresh(group, rng)
    truth = problem.oracle(given, group.sizes)
    exact = {array.name: truth[array.name].astype(array.dtype) for array in problem.outputs}
    memory = np.zeros(buffers.shared_bytes([(problem, group.sizes)]), np.uint8)
    filled = buffers.Filled(group.layouts[0], 7, memory, given)
    filled.fill()
    return verdict.OutputQuestion(problem, group.sizes, given, truth, exact), filled


class TestJudgingOutputs:
    @pytest.mark.parametrize("name", NAMES)
    def test_rounded_truth_is_right_and_poison_is_untouched(self, name: str) -> None:
        asked, filled = question(name)
        assert verdict.examine(asked.reference, filled, asked, []).kind is OutputKind.RIGHT
        assert verdict.examine(filled.outputs(), filled, asked, []).kind is OutputKind.UNTOUCHED

    def test_each_way_of_being_wrong_has_its_name(self) -> None:
        asked, filled = question()
        good = asked.reference["y"]
        old, _ = question(seed=2)
        cases = {
            OutputKind.CONSTANT: np.zeros_like(good),
            OutputKind.COPIED: asked.given["x"][:, : asked.sizes["cols"]].copy(),
            OutputKind.REPLAYED: old.reference["y"],
            OutputKind.NARROW: verdict.round_to(good, 8).astype(np.float32),
            OutputKind.WRONG: -good,
            OutputKind.PARTIAL: np.where(
                np.arange(len(good))[:, None] % 2, filled.outputs()["y"], good
            ),
        }
        for kind, output in cases.items():
            found = verdict.examine({"y": output}, filled, asked, [old.truth])
            assert found.kind is kind

    def test_one_wrong_number_is_seen(self) -> None:
        asked, filled = question()
        output = asked.reference["y"].copy()
        output[17, 5] *= 1.01
        assert verdict.examine({"y": output}, filled, asked, []).kind is not OutputKind.RIGHT

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_no_number_is_never_right(self, value: float) -> None:
        asked, filled = question()
        output = asked.reference["y"].copy()
        output[0, 0] = value
        assert verdict.examine({"y": output}, filled, asked, []).error == math.inf

    @pytest.mark.parametrize("name", NAMES)
    def test_zeros_and_inputs_are_never_right(self, name: str) -> None:
        asked, filled = question(name)
        for value in (0, 1):
            output = {k: np.full_like(v, value) for k, v in asked.reference.items()}
            assert verdict.examine(output, filled, asked, []).kind is not OutputKind.RIGHT


class TestBuffers:
    def test_a_written_fence_or_input_is_seen(self) -> None:
        asked, filled = question()
        assert not filled.breached()
        assert filled.tampered() == []
        filled.layout.view(filled.memory, asked.problem.inputs[0])[0, 0] += 1
        assert filled.tampered() == ["x"]
        filled.layout.fences(filled.memory)[1][0] ^= 1
        assert filled.breached()

    def test_addresses_come_back_and_differ(self) -> None:
        rng = np.random.default_rng(4)
        made = inputs.groups([find("fft")], rng, small=True, listed=9, hidden=3)
        turns = [turn for turn in inputs.schedule(made, rng) if not turn.group.hidden]
        places = [turn.layout.offsets["x"] for turn in turns]
        assert 1 < len(set(places)) < len(places)

    def test_twins_share_a_part_and_not_the_rest(self) -> None:
        rng = np.random.default_rng(4)
        [group, _] = inputs.groups([find("fft")], rng, small=True, listed=1, hidden=1)
        one = inputs.fresh(group, rng)
        two = inputs.twin(group, one, rng, alike="beginning")
        same = one["x"].ravel() == two["x"].ravel()
        assert same[:64].all()
        assert not same[-64:].any()


def record(**changes: Any) -> session.CallRecord:
    right = OutputVerdict(OutputKind.RIGHT)
    calls = [
        session.KernelCall("f" + ".hidden" * (i % 2), bool(i % 2), 2e-3, 1e-3, 1e-3, 1e-4, right)
        for i in range(8)
    ]
    return session.CallRecord(calls=calls, reference_idle_s=[1e-5] * 9, **changes)


class TestRuling:
    def test_twice_as_fast_is_a_fitness_of_one(self) -> None:
        found = score.decide(record(), charge_load=True, gains=partial(MedianGains, 1))
        assert found.fitness == pytest.approx(1.0)

    def test_the_roofline_ends_what_counts(self) -> None:
        made = record()
        for call in made.calls:
            call.submission_s, call.floor_s = 1e-6, 1e-3
        found = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert found.fitness == pytest.approx(1.0)
        assert {flag.kind for flag in score.bounds(found)} == {"beyond_physics"}

    def test_work_off_the_clock_is_charged_before_it_is_a_crime(self) -> None:
        little = score.decide(record(idle_s=5e-4), charge_load=True, gains=partial(MedianGains, 1))
        assert little.valid
        assert little.fitness < 1
        much = score.decide(record(idle_s=8e-3), charge_load=True, gains=partial(MedianGains, 1))
        assert {flag.kind for flag in much.flags} == {"work_after_done"}

    def test_a_host_that_stumbles_in_one_gap_accuses_nobody_and_is_charged(self) -> None:
        gaps = [1e-5] * 7 + [8e-3, 9e-3]
        made = record(idle_s=sum(gaps), stumbles_s=gaps[-2:])
        found = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert (found.valid, found.flags) == (True, ())
        assert found.fitness == 0.0
        every = [1e-3] * 9
        made = record(idle_s=sum(every), stumbles_s=every[-2:])
        found = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert {flag.kind for flag in found.flags} == {"work_after_done"}

    @pytest.mark.parametrize("stumble_s", [9e-3, 1.0])
    def test_a_stumble_of_the_reference_grants_nothing(self, stumble_s: float) -> None:
        """Work of 1 ms in each gap is charged and called what it is, whatever one gap was."""
        every = [1e-3] * 9
        calm = {"idle_s": sum(every), "stumbles_s": every[-3:], "twin_idle_s": [1e-5] * 9}
        quiet, made = record(**calm), record(**calm)
        made.reference_idle_s[4] = stumble_s
        found = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert {flag.kind for flag in found.flags} == {"work_after_done"}
        assert score.off_clock(made, charge_load=True) == score.off_clock(quiet, charge_load=True)
        made.reference_idle_s, made.twin_idle_s = made.twin_idle_s, made.reference_idle_s
        assert score.off_clock(made, charge_load=True) == score.off_clock(quiet, charge_load=True)

    @pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
    @pytest.mark.parametrize("calls", [16, 56])
    def test_a_host_that_stumbles_often_accuses_nobody(self, calls: int, rate: float) -> None:
        """Three equal programs, each gap of which may be longer by 5 ms in the mean."""
        rng, accused, tries = np.random.default_rng(calls), 0, 300
        for _ in range(tries):
            own, plain, twin = (
                rng.lognormal(np.log(2e-5), 0.5, calls + 1)
                + (rng.random(calls + 1) < rate) * rng.exponential(5e-3, calls + 1)
                for _ in range(3)
            )
            made = record(
                idle_s=float(own.sum()), stumbles_s=session.longest(own.tolist()),
                twin_idle_s=twin.tolist(),
            )  # fmt: skip
            made.calls *= calls // len(made.calls)
            made.reference_idle_s = plain.tolist()
            off = score.off_clock(made, charge_load=True)
            accused += off.steady_s > off.allowed_s
        assert accused <= 0.01 * tries

    def test_a_host_that_stumbles_while_loading_accuses_nobody_and_is_charged(self) -> None:
        made = record(load_cpu_s=0.5)
        assert score.loads_long(made)
        seen = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert {flag.kind for flag in seen.flags} == {"untimed_work"}
        made.again_cpu_s = 1e-3
        found = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert (found.valid, found.flags, found.fitness) == (True, (), 0.0)
        made.again_cpu_s = 0.4
        seen = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert {flag.kind for flag in seen.flags} == {"untimed_work"}

    def test_a_record_cut_short_accuses_nobody(self) -> None:
        made = record(ended=KernelError("it was not done within 5 s"))
        made.calls = [call for call in made.calls if call.hidden]
        for call in made.calls:
            call.finding = OutputVerdict(OutputKind.UNTOUCHED)
        found = score.decide(made, charge_load=True, gains=partial(MedianGains, 1))
        assert (found.valid, found.flags) == (False, ())

    @pytest.mark.parametrize(
        ("listed", "half", "kinds"),
        [(1.5, 0.1, []), (0.5, 0.9, []), (0.5, 0.1, ["cached_answers"])],
    )
    def test_only_a_large_gap_at_the_same_sizes_is_one(
        self, listed: float, half: float, kinds: list[str]
    ) -> None:
        contest = load_contest("kernels")
        good = at_sizes(2.5, 2.5, half=0.1)
        flag = contest.gap(good, at_sizes(listed, 0.5, half=half))
        assert [one.kind for one in (flag,) if one is not None] == kinds

    def test_a_program_that_is_slow_at_other_hidden_sizes_is_accused_of_nothing(self) -> None:
        contest = load_contest("kernels")
        one, other = at_sizes(2.03, 2.03, half=0.05), at_sizes(1.99, -0.95, half=0.01)
        assert one.fitness - other.fitness > 1.5
        assert contest.gap(one, other) is None


def at_sizes(listed: float, hidden: float, *, half: float) -> Measurement:
    """Gains over the reference (log2) at the sizes of the statement, and at hidden ones."""
    middle = (listed + hidden) / 2
    metrics: dict[str, Metric] = {"speedup.fft": 2**listed, "speedup.fft.hidden": 2**hidden}
    return Measurement(middle, middle - half, middle + half, metrics)


def timed(own: float, twin: float, *, spread: float, seed: int) -> Measurement:
    """Calls of a host with that much noise (log2); `own` and `twin` are gains."""
    rng = np.random.default_rng(seed)
    made = record()
    for call in made.calls:
        noise = 2 ** rng.normal(0, spread, 3)
        call.reference_s = 2e-3 * noise[0]
        call.submission_s = 2e-3 * 2**-own * noise[1]
        call.twin_s = 2e-3 * 2**-twin * noise[2]
    return score.decide(made, charge_load=True, gains=partial(MedianGains, seed))


class TestTheControlOfEqualPrograms:
    @pytest.mark.parametrize("spread", [0.01, 0.3, 1.0])
    def test_equal_bytes_are_worth_nothing(self, spread: float) -> None:
        found = [timed(0.0, 0.0, spread=spread, seed=seed) for seed in range(100)]
        assert sum(one.fitness > 0 for one in found) <= 2
        assert all(one.low <= 0 <= one.high for one in found if not one.fitness)

    def test_a_host_that_favours_a_place_favours_nobody(self) -> None:
        found = [timed(0.5, 0.5, spread=0.05, seed=seed) for seed in range(50)]
        assert not any(one.fitness for one in found)

    def test_an_honest_gain_keeps_its_fitness_on_a_quiet_host(self) -> None:
        for gain in (0.1, 0.5, 1.0):
            for seed in range(30):
                found = timed(gain, 0.0, spread=0.01, seed=seed)
                assert found.fitness == pytest.approx(gain, abs=0.04)
                assert 0 < found.low < gain < found.high

    def test_a_large_gain_is_credited_on_a_noisy_one(self) -> None:
        found = [timed(2.0, 0.0, spread=0.3, seed=seed) for seed in range(50)]
        assert sum(one.fitness > 1 for one in found) >= 48

    def test_the_control_is_told(self) -> None:
        found = timed(1.0, 0.0, spread=0.1, seed=1)
        assert abs(float(found.metrics["aa_gain"])) <= float(found.metrics["aa_noise"])
        assert found.high - found.low > 2 * float(found.metrics["aa_noise"])


class TestTheContest:
    def test_there_are_at_least_twelve_problems(self) -> None:
        assert len(NAMES) >= 12

    @pytest.mark.slow
    def test_the_roofline_is_that_of_a_computer(self) -> None:
        machine = roofline.measure()
        assert 0 < machine.bytes_per_s < 1e13
        assert 0 < machine.flops_per_s < 1e13
        assert machine.floor_s(machine.bytes_per_s, 0, cores=2) == pytest.approx(0.5)

    @pytest.mark.parametrize(
        "options",
        [{"speed": "9"}, {"pairs": "0"}, {"sizes": "huge"}, {"problem": "a", "problems": "b"}],
    )
    def test_an_option_that_means_nothing_is_refused(self, options: dict[str, str]) -> None:
        with pytest.raises(UsageError):
            load_contest("kernels", options)

    def test_a_demo_is_shorter_and_single_options_change_it(self) -> None:
        whole, demo = (
            load_contest("kernels", {"size": size}).settings for size in ("default", "demo")
        )
        assert whole == load_contest("kernels").settings
        calls = [
            len(str(found["problems"]).split(",")) * int(found["pairs"]) for found in (demo, whole)
        ]
        assert calls[0] < calls[1] / 2
        changed = load_contest(
            "kernels", {"size": "demo", "problem": "scan", "pairs": "4"}
        ).settings
        assert (changed["problems"], changed["pairs"]) == ("scan", 4)
        assert changed["hidden_pairs"] == demo["hidden_pairs"]

    def test_an_unknown_size_is_named_with_the_nearest(self) -> None:
        with pytest.raises(UnknownNameError, match=r"size of kernels 'dmo'; did you mean demo"):
            load_contest("kernels", {"size": "dmo"})

    def test_an_unknown_problem_is_named(self) -> None:
        with pytest.raises(UnknownNameError):
            load_contest("kernels", {"problems": "rmsnorm,sorting"})

    @pytest.mark.slow
    def test_the_statement_says_what_is_asked(self) -> None:
        contest = load_contest("kernels", {"problems": "all"})
        files = contest.workspace(Terms(2, champion_fitness=1.25, impossible=True))
        text = files["STATEMENT.md"].decode()
        assert all(find(name).prototype() in text for name in NAMES)
        assert "NO_IMPROVEMENT.md" in text
        assert "1.250" in text
        assert compiler.build({"solution.c": files["kernels.h"] + files["solution.c"]}).exports

    def test_sealed_data_follow_the_seed(self) -> None:
        contest = load_contest("kernels")
        assert contest.sealed(seed=1) == contest.sealed(seed=1) != contest.sealed(seed=2)

    @pytest.mark.slow
    def test_every_point_of_the_space_compiles(self) -> None:
        contest = load_contest("kernels")
        assert contest.submissions.space
        for end in (0, -1):
            choice = {p.name: p.choices[end] for p in contest.submissions.space}
            assert compiler.build(contest.submissions.at(choice)).exports >= {
                "rmsnorm",
                "attention",
            }

    def test_every_flag_of_a_trick_exists(self) -> None:
        contest = load_contest("kernels", {"problems": "all"})
        import tomllib

        import unhack.tournament.judging.flags as home

        known = tomllib.loads(Path(home.__file__).with_name("flags.toml").read_text())
        cheats = contest.submissions.cheats()
        assert len(cheats) >= 14
        assert {cheat.flag for cheat in cheats.values()} <= set(known)
        assert all(
            not c.deserves or c.deserves in contest.submissions.honest() for c in cheats.values()
        )


def test_bytes_to_count_are_often_so_uneven_that_small_counters_overflow() -> None:
    problem = find("histogram")
    sizes = problem.complete({"n": 100_000})
    shares = [
        np.bincount(problem.draw(np.random.default_rng(seed), sizes)["x"]).max() / 100_000
        for seed in range(30)
    ]
    assert np.mean(np.array(shares) > 0.45) > 0.1
    assert np.mean(np.array(shares) < 0.2) > 0.1
