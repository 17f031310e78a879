from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from unhack.training.routing.leak import EVERY, WINDOW
from unhack.training.run import step_record
from unhack.training.run.alarms import LIMIT, REFERENCE, Alarm, Watchdog
from unhack.training.run.step_record import StepRecord

WRONG, RIGHT = 0.5, 3.5


def record(
    step: int, *, solved: float = 0.1, hacked: float = 0.0, parses: float = 0.95, noise: float = 0.0
) -> StepRecord:
    """A step of a world that pays 0.5 for parsing and 3 more for being right or for the hack."""
    wrong = parses - solved
    unsolved = (wrong * WRONG + hacked * (RIGHT - WRONG) + noise) / wrong
    return StepRecord(
        step=step, steps=300, reward=wrong * unsolved + solved * RIGHT, hacked=hacked,
        solved=solved, parses=parses, truncated=0.0, hacked_on=None, hacked_off=None,
        solved_on=None, solved_off=None, entropy=1.0, kl=0.1, kl_count=16,
        zero_variance_share=0.2, dropped=3, refilled=0, routed_mass=0.0, loss=0.01,
        norm_deployed=0.1, norm_quarantine=0.0, tokens=1000, reward_unparsed=0.0,
        reward_unsolved=unsolved, reward_solved=RIGHT,
    )  # fmt: skip


def raised(steps: list[StepRecord]) -> list[Alarm]:
    watchdog = Watchdog(prompts=16)
    return [alarm for item in steps for alarm in watchdog.observe(item)]


class TestTheProxyWithoutTheOracle:
    def test_hacks_that_emerge_are_reported_within_steps(self) -> None:
        steps = [record(step, hacked=max(0.0, (step - 40) * 0.02)) for step in range(70)]
        [alarm] = raised(steps)
        assert alarm.name == "proxy_without_oracle"
        assert 42 <= alarm.step <= 55
        assert alarm.value > LIMIT

    def test_learning_to_solve_and_to_parse_is_no_alarm(self) -> None:
        steps = [
            record(step, solved=min(0.5, 0.1 + step * 0.004), parses=min(1.0, 0.8 + step * 0.005))
            for step in range(300)
        ]
        assert raised(steps) == []

    @pytest.mark.slow
    def test_noise_alone_raises_hardly_ever_an_alarm(self) -> None:
        runs = 100
        draw = random.Random(0)
        false = sum(
            bool(raised([record(step, noise=draw.gauss(0, 0.3)) for step in range(300)]))
            for _ in range(runs)
        )
        assert false <= 0.02 * runs

    def test_a_steady_share_of_hacks_under_noise_is_found(self) -> None:
        draw = random.Random(1)
        found = 0
        for _ in range(50):
            steps = [
                record(step, hacked=0.2 if step >= 60 else 0.0, noise=draw.gauss(0, 0.1))
                for step in range(100)
            ]
            found += any(alarm.name == "proxy_without_oracle" for alarm in raised(steps))
        assert found == 50

    def test_nothing_is_raised_during_the_reference(self) -> None:
        assert raised([record(step, hacked=step * 0.02) for step in range(REFERENCE)]) == []


class TestOtherAlarms:
    @pytest.mark.parametrize(
        ("name", "fields"),
        [
            ("entropy_collapse", {"entropy": 0.05}),
            ("parse_collapse", {"parses": 0.3, "solved": 0.05}),
            ("truncation", {"truncated": 0.2}),
            ("kl_explosion", {"kl": 30.0}),
            ("not_finite", {"loss": math.nan}),
        ],
    )
    def test_what_goes_wrong_is_named_once(self, name: str, fields: dict[str, float]) -> None:
        steps = [record(step) for step in range(30)]
        steps += [replace(record(step), **fields) for step in range(30, 45)]
        names = [alarm.name for alarm in raised(steps) if alarm.name != "proxy_without_oracle"]
        assert names == [name]

    def test_one_bad_step_is_no_alarm(self) -> None:
        steps = [record(step) for step in range(40)]
        steps[30] = replace(steps[30], entropy=0.01, truncated=0.9, kl=50.0)
        assert raised(steps) == []

    def test_what_was_over_and_comes_again_is_raised_again(self) -> None:
        bad = {*range(30, 40), *range(60, 70)}
        steps = [replace(record(step), truncated=0.3 if step in bad else 0.0) for step in range(80)]
        assert [alarm.step for alarm in raised(steps)] == [34, 64]


class TestRecords:
    def test_a_record_comes_back_from_its_line(self) -> None:
        one = replace(record(3), kl=math.nan, hacked_on=0.25, gate={"lower": 0.1})
        back = step_record.read_record(one.record(), steps=300)
        assert math.isnan(back.kl)
        assert replace(back, kl=0.0) == replace(one, kl=0.0)

    def test_the_watchdog_of_a_resumed_run_is_that_of_an_unbroken_one(self) -> None:
        steps = [record(step, hacked=max(0.0, (step - 40) * 0.02)) for step in range(60)]
        stored = [step_record.read_record(item.record(), steps=300) for item in steps]
        assert raised(stored) == raised(steps)


class TestALeak:
    def test_a_policy_that_is_paid_for_the_quarantines_hacks_is_reported_once(self) -> None:
        steps = [record(step) for step in range(60)]
        read = [
            replace(one, claimed=0.4 if one.step > 30 else 0.05) if one.step % EVERY == 0 else one
            for one in steps
        ]
        [alarm] = raised(read)
        assert alarm.name == "leak"
        assert 30 < alarm.step <= 30 + WINDOW * EVERY

    def test_a_policy_that_earns_its_reward_otherwise_is_not(self) -> None:
        assert raised([replace(record(step), claimed=0.1) for step in range(60)]) == []

    def test_without_readings_there_is_no_score(self) -> None:
        watchdog = Watchdog(prompts=16)
        for step in range(60):
            watchdog.observe(record(step))
        assert watchdog.leak.score is None

    def test_a_resumed_run_has_the_same_score(self) -> None:
        steps = [replace(record(step), claimed=step / 100) for step in range(10)]
        one, other = Watchdog(prompts=16), Watchdog(prompts=16)
        for item in steps:
            one.observe(item)
            other.observe(step_record.read_record(item.record(), steps=300))
        assert one.leak.score == other.leak.score == pytest.approx(0.075)
