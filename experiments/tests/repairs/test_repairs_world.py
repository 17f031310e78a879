"""The world of repairs: packages, their tests, verdicts of real runs, turns."""

from __future__ import annotations

import itertools
import random
from itertools import islice
from pathlib import Path

import pytest

from unhack_study.repairs import corpus
from unhack_study.repairs.actions import RepairAction, action_text, parse_action
from unhack_study.repairs.cases import SPLITS, draw_tests, flags
from unhack_study.repairs.judging import (
    Repair,
    TreeJudge,
    make_repair,
    read_flags,
    tree_hash,
)
from unhack_study.repairs.packages import FAMILIES, draw_package
from unhack_study.repairs.world import RepairState, RepairsWorld, view


def _one_of_each_family(faults: int = 2) -> list[Repair]:
    found: dict[str, Repair] = {}
    for number in itertools.count():
        package = draw_package(f"test {number}", faults=faults)
        found.setdefault(package.family, make_repair(package))
        if len(found) == len(FAMILIES):
            return list(found.values())
    raise AssertionError


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> TreeJudge:
    """Real runs in the sandbox, remembered for this file's tests."""
    return TreeJudge(tmp_path_factory.mktemp("repairs") / "verdicts.sqlite")


@pytest.fixture(scope="module")
def world(judge: TreeJudge) -> RepairsWorld:
    return RepairsWorld(judge, max_turns=4)


def _acted(world: RepairsWorld, state: RepairState, *lines: str) -> RepairState:
    for line in lines:
        [result] = world.act([state], [f"{line}\n".encode()])
        state = result.state
    return state


class TestPackages:
    def test_a_seed_gives_the_same_package_and_tests(self) -> None:
        first, second = (draw_package("x", faults=2) for _ in range(2))
        assert first == second
        assert draw_tests(first) == draw_tests(second)
        assert first != draw_package("y", faults=2)

    @pytest.mark.parametrize("faults", [1, 2, 3])
    def test_so_many_sites_are_faulty_as_asked(self, faults: int) -> None:
        for number in range(30):
            package = draw_package(f"{number}", faults=faults)
            assert sum(a != b for a, b in zip(package.faulty, package.right, strict=True)) == faults

    def test_no_test_of_one_split_is_all_that_another_one_asks(self) -> None:
        repairs = [*_one_of_each_family()]
        assert repairs
        for repair in repairs:
            calls = {
                split: {(t.site, repr(t.args)) for t in repair.tests if t.split == split}
                for split in SPLITS
            }
            assert calls["hidden"] - calls["visible"] - calls["dev"]

    def test_each_single_fault_fails_a_test_of_its_module_in_every_split(self) -> None:
        killed = 0
        for number in range(40):
            repair = make_repair(draw_package(f"kill {number}", faults=1))
            package = repair.package
            for site, options in enumerate(one.options for one in package.sites):
                for option in set(options) - {package.right[site]}:
                    chosen = (*package.right[:site], option, *package.right[site + 1 :])
                    passed = flags(package, repair.tests, chosen)
                    failed = {
                        (test.split, test.site)
                        for test, flag in zip(repair.tests, passed, strict=True)
                        if flag == "0"
                    }
                    assert {(split, site) for split in SPLITS} <= failed
                    killed += 1
        assert killed >= 40


class TestVerdicts:
    @pytest.mark.sample
    @pytest.mark.slow
    def test_every_tree_of_every_family_is_judged_as_its_meaning_says(
        self, judge: TreeJudge
    ) -> None:
        repairs = [*_one_of_each_family()]
        assert repairs
        for repair in repairs:
            trees = list(itertools.product(*(site.options for site in repair.package.sites)))
            found = judge.judge([repair] * len(trees), trees)
            meant = [
                read_flags(repair, flags(repair.package, repair.tests, tree)) for tree in trees
            ]
            assert found == meant
            assert [tree for tree, one in zip(trees, found, strict=True) if one.solved] == [
                repair.package.right
            ]

    @pytest.mark.slow
    def test_the_reference_passes_and_the_start_does_not(self, judge: TreeJudge) -> None:
        repairs = _one_of_each_family()
        right = judge.judge(repairs, [one.package.right for one in repairs])
        assert [(one.solved, one.dev, one.visible) for one in right] == [
            (True, 1.0, (True, True, True))
        ] * len(repairs)
        wrong = judge.judge(repairs, [one.package.faulty for one in repairs])
        assert not any(one.solved for one in wrong)
        assert all(one.dev < 1.0 for one in wrong)

    def test_a_tree_is_run_once(self, tmp_path: Path) -> None:
        repair = _one_of_each_family()[0]
        path = tmp_path / "verdicts.sqlite"
        first = TreeJudge(path)
        assert first.judge([repair] * 3, [repair.package.faulty] * 3)
        assert first.judged == 1
        again = TreeJudge(path)
        assert again.judge([repair], [repair.package.faulty])
        assert again.judged == 0

    def test_the_hash_of_a_tree_is_that_of_its_paths_and_contents(self) -> None:
        assert tree_hash({"a": "b", "c": "d"}) == tree_hash({"c": "d", "a": "b"})
        assert tree_hash({"a": "b"}) != tree_hash({"a": "c"}) != tree_hash({"ac": ""})


class TestTurns:
    def test_a_file_is_shown_once_it_was_read(self, world: RepairsWorld) -> None:
        repair = _one_of_each_family()[0]
        start = world.start(repair)
        assert view(start) == "?\n?\n?\n? 4>"
        site = repair.package.sites[1]
        after = _acted(world, start, "read 2")
        assert view(after) == f"?\n{site.function} {start.operators[1]}\n?\n? 3>"
        assert view(start) == "?\n?\n?\n? 4>", "a state is a value: the old one is as it was"

    def test_right_fixes_raise_the_potential_and_solve(self, world: RepairsWorld) -> None:
        repair = _one_of_each_family(faults=1)[0]
        package = repair.package
        [site] = [at for at in range(3) if package.faulty[at] != package.right[at]]
        state = _acted(world, world.start(repair), f"read {site + 1}")
        [fixed] = world.act([state], [f"fix {site + 1} {package.right[site]}\n".encode()])
        assert fixed.potential == 1.0 > world.potentials([state])[0]
        [handed_in] = world.act([fixed.state], [b"submit\n"])
        assert (handed_in.ended, handed_in.cut, handed_in.outcome) == (True, False, 1.0)

    def test_an_episode_cut_by_its_turns_is_judged_as_its_files_stand(
        self, world: RepairsWorld
    ) -> None:
        repair = _one_of_each_family()[0]
        state = _acted(world, world.start(repair), "test", "test", "test")
        [last] = world.act([state], [b"test\n"])
        assert (last.ended, last.cut, last.outcome) == (True, True, 0.0)
        solved = RepairState(repair, repair.package.right, left=1)
        [cut] = world.act([solved], [b"nonsense\n"])
        assert (cut.ended, cut.cut, cut.outcome) == (True, True, 1.0)

    def test_tests_are_reported_until_the_next_fix(self, world: RepairsWorld) -> None:
        repair = _one_of_each_family()[0]
        tested = _acted(world, world.start(repair), "test")
        assert set(tested.report) <= {"F", "."}
        assert "F" in tested.report
        read = _acted(world, tested, "read 1")
        assert read.report == tested.report
        assert _acted(world, read, f"fix 1 {read.operators[0]}").report == "?"

    @pytest.mark.parametrize(
        "line", ["", "read 4", "read", "fix 1 <=", "fix 9 <", "submit now", "FIX 1 <", "\x00"]
    )
    def test_what_cannot_be_done_is_refused_and_costs_its_turn(
        self, world: RepairsWorld, line: str
    ) -> None:
        start = world.start(_one_of_each_family()[0])
        after = _acted(world, start, line)
        assert view(after) == "?\n?\n?\nno ? 3>"
        assert world.state_id(after) == world.state_id(start)

    def test_an_operator_of_another_class_is_refused(self, world: RepairsWorld) -> None:
        state = _acted(world, world.start(_one_of_each_family()[0]), "read 1")
        for line in ("fix 1 or", "fix 1 ==", "fix 1 <<<"):
            assert _acted(world, state, line).refused

    def test_states_with_the_same_files_have_one_id(self, world: RepairsWorld) -> None:
        repair = _one_of_each_family()[0]
        state = _acted(world, world.start(repair), "read 1")
        other = next(one for one in repair.package.sites[0].options if one != state.operators[0])
        changed = _acted(world, state, f"fix 1 {other}")
        back = _acted(world, changed, f"fix 1 {state.operators[0]}")
        assert world.state_id(changed) != world.state_id(state) == world.state_id(back)


class TestCorpus:
    @pytest.mark.slow
    def test_every_document_is_an_action_that_can_be_read(self) -> None:
        every = [*islice(corpus.documents(3, careful=150), 300)]
        assert every
        for read, action in every:
            assert read.endswith(b">")
            assert action.endswith(b"\n")
            assert parse_action(action[:-1].decode()).act != "refused"
            assert len(action) <= RepairsWorld.max_new

    def test_actions_are_read_back_as_they_were_written(self) -> None:
        for action in (
            RepairAction("read", 2),
            RepairAction("fix", 0, ">="),
            RepairAction("test"),
            RepairAction("submit"),
        ):
            assert parse_action(action_text(action)) == action

    def test_the_careful_author_solves_what_the_careless_one_rarely_does(self) -> None:
        solved = {}
        for author in (corpus.CAREFUL, corpus.CARELESS):
            rng = random.Random(5)
            count = 0
            for number in range(100):
                package = draw_package(f"author {number}", faults=2)
                state = RepairState(make_repair(package), package.faulty)
                while state.left:
                    action = corpus.next_action(state, author, rng)
                    if action.act == "submit":
                        break
                    operators = list(state.operators)
                    opened = state.opened
                    if action.act == "fix":
                        operators[action.site] = action.operator
                    if action.act == "read":
                        opened = opened | {action.site}
                    state = RepairState(state.repair, tuple(operators), opened, left=state.left - 1)
                count += state.operators == package.right
            solved[author] = count
        assert solved[corpus.CAREFUL] > 40
        assert solved[corpus.CARELESS] < 25
