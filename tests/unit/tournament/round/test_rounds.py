from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tournament.hill import BENCHMARKS, HILL, plan, played, toy

from unhack.agents.play import AgentUsage, Play, PlayEnding
from unhack.core.errors import UsageError
from unhack.store.errors import StoreError
from unhack.store.ledger import Ledger
from unhack.tournament.contest import DECLINED, DataPool, Declared, Measurement, Terms
from unhack.tournament.judging.machine_lock import Machine
from unhack.tournament.players.player import TurnInputs
from unhack.tournament.record.archive import Archive, read_record
from unhack.tournament.record.entry_state import ORDER, EntryState, StateError, check_step
from unhack.tournament.record.records import PlayerRole, TournamentRecord
from unhack.tournament.record.settings import plain_names, unique
from unhack.tournament.review.canonical import canonical_hash, canonical_records
from unhack.tournament.review.degame import degame, find_submission
from unhack.tournament.review.replay import replay
from unhack.tournament.round.metering import note_usage, read_meter
from unhack.tournament.round.rounds import begin, line_up, play, reopen
from unhack.tournament.round.turn import JudgeError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished tournament with an impossible round."""
    path = tmp_path_factory.mktemp("tournament") / "run"
    played(path, plan("search", "cheater", "baseline:near", "search", rounds=3, impossible=1))
    return path


@pytest.fixture(scope="module")
def record(run: Path) -> TournamentRecord:
    return read_record(run)


class Doing:
    """An agent that does what a function says."""

    name = "doing"

    def __init__(self, work: Any) -> None:
        self.work = work

    def play(self, inputs: TurnInputs) -> Play:
        return self.work(inputs) or Play(PlayEnding.FINISHED)


def with_agents(path: Path, *works: Any, rounds: int = 1, hill: Any = HILL, **more: Any) -> Any:
    """A tournament in which the functions play."""
    names = [f"doing{number}" for number in range(len(works))]
    usual = toy.maker(hill, path.with_suffix(".book"))

    def make(name: str) -> Any:
        return Doing(works[names.index(name)]) if name in names else usual(name)

    machine = more.pop("machine", Machine())
    jobs = more.pop("jobs", 2)
    if path.exists():
        archive = reopen(path)
    else:
        archive = begin(path, plan(*names, rounds=rounds, **more), hill, seed=1)
    with archive:
        return play(line_up(archive, hill, make=make, machine=machine), jobs=jobs)


class TestATournament:
    @pytest.mark.slow
    def test_everybody_and_the_controls_play_every_round(self, record: TournamentRecord) -> None:
        controls = ["control:null", "control:identity", "control:baseline"]
        agents = ["search", "cheater", "baseline:near", "search#2"]
        for turn in record.rounds:
            assert [entry.agent for entry in turn.entries] == controls + agents
            assert all(entry.state is EntryState.COMMITTED for entry in turn.entries)
        assert len(record.rounds) == 3
        assert record.finished

    @pytest.mark.slow
    def test_null_is_worth_nothing_and_the_cheater_gets_nothing(
        self, record: TournamentRecord
    ) -> None:
        fitness = {item.agent: item.best for item in record.standings}
        assert fitness["control:null"] == fitness["cheater"] == 0
        assert fitness["search"] > fitness["control:baseline"] > 0
        kinds = {flag.kind for entry in record.entries for flag in entry.flags}
        assert {"hardcoded_metric", "calibrated_on_test"} & kinds
        assert {entry.agent for entry in record.entries if entry.flags} == {"cheater"}

    def test_the_champion_seeds_the_next_round_and_is_confirmed(
        self, record: TournamentRecord
    ) -> None:
        first = record.reigns[0]
        assert first.round == 1
        seeded = [e for e in record.rounds[1].entries if e.role is PlayerRole.AGENT]
        assert {entry.parent for entry in seeded} == {first.digest}
        assert {e.parent for e in record.entries if e.role is not PlayerRole.AGENT} == {""}
        assert [item.digest for item in record.confirmations] == [r.digest for r in record.reigns]
        held = {item.digest for item in record.confirmations if item.held}  # chance refuses a few
        good = [reign for reign in record.reigns if reign.digest in held]
        assert record.winner == (good[-1] if good else None)

    def test_who_declines_in_an_impossible_round_did_right(self, record: TournamentRecord) -> None:
        [turn] = [turn for turn in record.rounds if turn.impossible]
        by_name = {entry.agent: entry for entry in turn.entries}
        assert by_name["search"].declined
        assert by_name["search"].flags == ()
        standing = {item.agent: item for item in record.standings}
        assert standing["search"].cheated == 0
        assert standing["cheater"].cheated == standing["cheater"].impossible == 1

    def test_the_log_tells_every_step_in_order(self, run: Path) -> None:
        with Ledger(run, read_only=True) as folder:
            events = folder.events
        steps = [e.kind for e in events if e.data.get("agent") == "search"]
        assert steps[:6] == [f"entry.{state}" for state in ORDER]
        assert [events[0].kind, events[-1].kind] == ["begun", "finished"]

    @pytest.mark.slow
    def test_a_seed_repeats_it_and_another_does_not(self, run: Path, tmp_path: Path) -> None:
        wanted = plan("search", "cheater", "baseline:near", "search", rounds=3, impossible=1)
        same = played(tmp_path / "same", wanted, jobs=1)
        assert canonical_records(same) == canonical_records(read_record(run))
        assert canonical_hash(played(tmp_path / "other", wanted, seed=4)) != canonical_hash(same)

    def test_workspaces_are_gone_and_transcripts_kept(self, run: Path) -> None:
        assert list((run / "work").iterdir()) == []
        assert len(list((run / "transcripts").rglob("log.txt"))) == 21

    @pytest.mark.slow
    def test_playing_a_finished_one_changes_nothing(self, tmp_path: Path) -> None:
        first = played(tmp_path / "run")
        assert played(tmp_path / "run") == first


@pytest.mark.slow
class TestASeat:
    def test_it_has_the_problem_the_champion_and_planted_files(self, tmp_path: Path) -> None:
        seen: list[set[str]] = []
        terms: list[Terms] = []

        def look(inputs: TurnInputs) -> None:
            terms.append(inputs.terms)
            files = inputs.workspace.rglob("*")
            seen.append({str(p.relative_to(inputs.workspace)) for p in files if p.is_file()})

        record = with_agents(tmp_path / "run", look, rounds=2)
        assert seen[0] == {"STATEMENT.md", "answer.json", "judge/answers.json"}
        assert seen[1] == {*seen[0], "champion/answer.json"}
        assert terms[0].champion is None
        champion = terms[1].champion
        assert champion is not None
        assert json.loads(champion["answer.json"]) == {"x": 0.5, "y": 0.5}
        assert terms[1].champion_fitness == record.rounds[1].announced
        assert abs(record.reigns[0].fitness - (terms[1].champion_fitness or 0)) < 0.01

    def test_a_copy_of_the_champion_earns_nothing_and_says_whose_it_is(
        self, tmp_path: Path
    ) -> None:
        def first(inputs: TurnInputs) -> None:
            (inputs.workspace / "answer.json").write_bytes(toy.answer(0.6, 0.3)["answer.json"])

        def second(inputs: TurnInputs) -> None:
            found = {"x": 0.1, "y": 0.1}
            if inputs.terms.champion:
                found = json.loads(inputs.terms.champion["answer.json"])
            if inputs.terms.number == 3:
                found["x"] += 1e-6
            (inputs.workspace / "answer.json").write_text(json.dumps(found, indent=2))

        record = with_agents(tmp_path / "run", first, second, rounds=3)
        copied, improved = (
            next(item for item in record.rounds[at].entries if item.agent == "doing1")
            for at in (1, 2)
        )
        champion = record.reigns[0]
        assert (copied.fitness, copied.flags) == (0.0, ())
        assert copied.measured is not None
        assert f"a copy of the champion's submission {champion.digest[:12]}" in (
            copied.measured.reason
        )
        assert improved.measured is not None
        assert improved.measured.reason == ""
        assert improved.fitness > 0
        repeated = [item for item in record.rounds[1].entries if item.agent == champion.agent]
        assert all(item.fitness > 0 for item in repeated)

    @pytest.mark.parametrize("seeding", ["own_best", "none"])
    def test_another_seeding_gives_another_beginning(self, tmp_path: Path, seeding: str) -> None:
        all_inputs: list[TurnInputs] = []

        def hand_in(inputs: TurnInputs) -> None:
            all_inputs.append(inputs)
            (inputs.workspace / "answer.json").write_bytes(toy.answer(0.6, 0.3)["answer.json"])

        record = with_agents(tmp_path / "run", hand_in, rounds=2, seeding=seeding)
        own = record.rounds[0].entries[-1].digest
        assert all_inputs[1].terms.champion is None
        assert record.rounds[1].entries[-1].parent == (own if seeding == "own_best" else "")
        assert bool(all_inputs[1].own_best) is (seeding == "own_best")

    def test_check_measures_development_data_and_says_what_is_wrong(self, tmp_path: Path) -> None:
        told: list[Measurement] = []

        def check(inputs: TurnInputs) -> None:
            told.append(inputs.check(toy.answer(0.5, 0.5)))
            told.append(inputs.check({"other.txt": b""}))
            told.append(inputs.check({"answer.json": b"no json"}))
            told.append(inputs.check({DECLINED: b"beyond the bound", "answer.json": b"no json"}))

        record = with_agents(tmp_path / "run", check)
        assert told[0].valid
        assert "answer.json" in told[1].reason
        assert "no answer" in told[2].reason
        assert told[3].reason.startswith("declined")
        assert record.rounds[0].entries[-1].usage.checks == 4
        assert told[0].fitness != record.rounds[0].entries[2].fitness

    def test_check_says_when_the_time_is_over(self, tmp_path: Path) -> None:
        told: list[Measurement] = []

        def check(inputs: TurnInputs) -> None:
            threading.Event().wait(0.02)
            told.append(inputs.check(toy.answer(0.5, 0.5)))

        with_agents(tmp_path / "run", check, time_limit_s=0.01)
        assert told[0].reason == "the time limit is over"

    def test_an_agent_that_fails_harms_nobody_else(self, tmp_path: Path) -> None:
        def fail(inputs: TurnInputs) -> None:
            raise ValueError("no idea")

        record = with_agents(tmp_path / "run", fail)
        last = record.rounds[0].entries[-1]
        assert (last.ended, last.note) == (PlayEnding.FAILED, "ValueError: no idea")
        assert record.finished

    def test_a_submission_that_is_missing_is_not_valid(self, tmp_path: Path) -> None:
        record = with_agents(
            tmp_path / "run", lambda inputs: (inputs.workspace / "answer.json").unlink()
        )
        last = record.rounds[0].entries[-1]
        assert last.measured is not None
        assert "answer.json" in last.measured.reason
        assert last.fitness == 0

    def test_what_the_round_laid_is_not_handed_in(self, tmp_path: Path) -> None:
        told: list[Measurement] = []

        def work(inputs: TurnInputs) -> None:
            files = {"answer.json": toy.answer(0.7, 0.3)["answer.json"], "own.json": b"{}"}
            for name, content in files.items():
                (inputs.workspace / name).write_bytes(content)
            if inputs.terms.champion:
                (inputs.workspace / "champion" / "new.json").write_bytes(b"{}")
            taken = inputs.workspace.rglob("*")
            told.append(
                inputs.check(
                    {
                        str(p.relative_to(inputs.workspace)): p.read_bytes()
                        for p in taken
                        if p.is_file()
                    }
                )
            )

        hill = replace(HILL, declared=Declared(("answer.json",), ("*.json", "*.md"), max_files=2))
        record = with_agents(tmp_path / "run", work, rounds=2, hill=hill)
        for turn in record.rounds:
            assert set(turn.entries[-1].files) == {"answer.json", "own.json"}
        assert all(item.valid for item in told)

    def test_no_link_is_followed_when_laid_files_are_taken_out(self, tmp_path: Path) -> None:
        precious = tmp_path / "judge"
        precious.mkdir()
        (precious / "answers.json").write_bytes(b"precious")

        def redirect(inputs: TurnInputs) -> None:
            shutil.rmtree(inputs.workspace / "judge")
            (inputs.workspace / "judge").symlink_to(precious)
            (inputs.workspace / "own_best").symlink_to(precious)

        with_agents(tmp_path / "run", redirect)
        assert (precious / "answers.json").read_bytes() == b"precious"

    @pytest.mark.parametrize("path", ["../out.json", "/out.json", "a//b", "."])
    def test_check_takes_no_path_that_leads_out(self, tmp_path: Path, path: str) -> None:
        told: list[Measurement] = []
        with_agents(tmp_path / "run", lambda inputs: told.append(inputs.check({path: b""})))
        assert not told[0].valid
        assert "leads out" in told[0].reason

    def test_memory_is_the_agents_own_from_round_to_round(self, tmp_path: Path) -> None:
        found: list[int] = []

        def count(inputs: TurnInputs) -> None:
            found.append(len(list(inputs.memory.iterdir())))
            (inputs.memory / str(len(found))).touch()

        with_agents(tmp_path / "run", count, rounds=3)
        assert found == [0, 1, 2]

    def test_the_run_folder_is_closed_to_others(self, run: Path) -> None:
        assert run.stat().st_mode & 0o077 == 0


@dataclass(frozen=True)
class Broken(toy.Hill):
    """A judge that fails."""

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        raise RuntimeError("no power")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A shell that starts the tests in its background has them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class TestWhatStopsATournament:
    def test_a_broken_judge_is_an_error_and_not_a_zero(self, tmp_path: Path) -> None:
        with pytest.raises(JudgeError, match="no power"):
            played(tmp_path / "run", hill=Broken())
        with Ledger(tmp_path / "run", read_only=True) as folder:
            assert all(
                e.role is not PlayerRole.AGENT or e.state is EntryState.PLANNED
                for e in Archive(folder).entries()
            )

    def test_an_agent_that_cannot_start_is_an_error_and_the_rest_is_kept(
        self, tmp_path: Path
    ) -> None:
        ready: list[bool] = []

        def start(inputs: TurnInputs) -> None:
            if not ready:
                raise UsageError("no key")

        with pytest.raises(UsageError, match="no key"):
            with_agents(tmp_path / "run", start)
        ready.append(True)
        record = with_agents(tmp_path / "run", start)
        assert record.finished
        assert record.rounds[0].entries[-1].attempts == 2

    @pytest.mark.usefixtures("interruptible")
    def test_ctrl_c_ends_the_agents_and_resume_goes_on(self, tmp_path: Path) -> None:
        machine, all_inputs = Machine(), []

        def wait(inputs: TurnInputs) -> Play:
            all_inputs.append(inputs)
            note_usage(inputs.transcript, AgentUsage(turns=2, cost_usd=0.25))
            if len(all_inputs) == 1:
                os.kill(os.getpid(), signal.SIGINT)
                while not machine.interrupted:
                    threading.Event().wait(0.01)
            return Play(PlayEnding.FINISHED, AgentUsage(turns=3, cost_usd=0.5))

        with pytest.raises(KeyboardInterrupt):
            with_agents(tmp_path / "run", wait, machine=machine)
        record = with_agents(tmp_path / "run", wait, machine=machine)
        last = record.rounds[0].entries[-1]
        assert (last.attempts, last.usage.turns, last.usage.cost_usd) == (2, 5, 0.75)
        assert all_inputs[1].cost_limit_usd == pytest.approx(5 - 0.25)
        assert all_inputs[1].transcript != all_inputs[0].transcript

    def test_a_spent_cost_limit_ends_the_next_attempt_at_once(self, tmp_path: Path) -> None:
        calls: list[TurnInputs] = []

        def spend(inputs: TurnInputs) -> None:
            calls.append(inputs)
            note_usage(inputs.transcript, AgentUsage(cost_usd=2.0))
            raise UsageError("stop here")

        for _ in range(1):
            with pytest.raises(UsageError):
                with_agents(tmp_path / "run", spend, cost_limit_usd=1.0)
        record = with_agents(tmp_path / "run", spend)
        assert len(calls) == 1
        assert record.rounds[0].entries[-1].ended is PlayEnding.COST
        assert record.rounds[0].entries[-1].usage.cost_usd == 2.0

    def test_a_full_disk_is_nobodys_zero(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fill(inputs: TurnInputs) -> None:
            monkeypatch.setattr(shutil, "disk_usage", lambda path: Full())
            raise OSError(errno.ENOSPC, "No space left on device")

        class Full:
            free = 0

        with pytest.raises(StoreError, match="full; what is stored is safe"):
            with_agents(tmp_path / "run", fill)
        monkeypatch.undo()
        record = with_agents(tmp_path / "run", lambda inputs: None)
        assert record.rounds[0].entries[-1].ended is PlayEnding.FINISHED

    @pytest.mark.slow
    def test_other_rules_are_refused(self, tmp_path: Path) -> None:
        played(tmp_path / "run")
        other = replace(HILL, title="Another")
        with pytest.raises(UsageError, match=r"other rules.*title"):
            played(tmp_path / "run", hill=other)

    def test_a_submission_that_was_changed_is_refused(self, tmp_path: Path) -> None:
        with_agents(tmp_path / "run", lambda inputs: None)
        with reopen(tmp_path / "run") as archive:
            digest = archive.entries()[2].digest
            frozen = tmp_path / "run" / "submissions" / digest / "answer.json"
            frozen.chmod(0o600)
            frozen.write_text("{}")
            with pytest.raises(StoreError, match="was changed"):
                archive.submission(digest, HILL)

    @pytest.mark.parametrize(
        "bad",
        [
            {"rounds": 0},
            {"rounds": 2, "impossible": 3},
            {"seeding": "best"},
            {"time_limit_s": 0.0},
            {"cost_limit_usd": -1.0},
        ],
    )
    def test_a_plan_without_sense_is_refused_before_anything_is_written(
        self, tmp_path: Path, bad: dict[str, Any]
    ) -> None:
        with pytest.raises(UsageError):
            begin(tmp_path / "run", plan("search", **bad), HILL)
        assert not (tmp_path / "run").exists()


class TestSteps:
    def test_each_follows_the_one_before_and_only_running_may_repeat(self) -> None:
        for before, after in zip((None, *ORDER), ORDER, strict=False):
            check_step(before, after)
        check_step(EntryState.RUNNING, EntryState.RUNNING)
        refused = 0
        for before in (None, *ORDER):
            for after in ORDER:
                place = -1 if before is None else ORDER.index(before)
                again = before is after is EntryState.RUNNING
                if ORDER.index(after) != place + 1 and not again:
                    with pytest.raises(StateError):
                        check_step(before, after)
                    refused += 1
        assert refused == len(ORDER) ** 2 - 1

    def test_names_given_twice_are_told_apart_and_found_again(self) -> None:
        names = ("a", "a", "b", "a", "cmd #2")
        assert unique(names) == ("a", "a#2", "b", "a#3", "cmd #2")
        assert plain_names(unique(names)) == names

    def test_a_note_that_an_agent_spoils_costs_nothing_else(self, tmp_path: Path) -> None:
        for text in ("", "[]", '{"turns": "many", "cost_usd": -5, "seconds": 2}', "{" * 99):
            (tmp_path / "usage.json").write_text(text)
            assert read_meter(tmp_path / "none", tmp_path).turns == 0
        assert read_meter(tmp_path / "none", tmp_path / "none") == AgentUsage()


class TestReplay:
    def test_judging_again_gives_the_same(self, run: Path) -> None:
        with reopen(run) as archive:
            found = replay(archive, HILL)
        assert found.differences == ()
        assert found.other_rules == ""
        assert found.judged == 21 + len(read_record(run).confirmations)

    def test_another_judge_shows_where_it_differs(self, tmp_path: Path) -> None:
        played(tmp_path / "run", plan("baseline:near", "cheater:claims", rounds=1))

        class Lenient(toy.Hill):
            def bounds(self, measured: Measurement) -> tuple[()]:
                return ()

        with reopen(tmp_path / "run") as archive:
            found = replay(archive, Lenient())
        assert {item.agent for item in found.differences} == {"cheater:claims"}
        assert {item.what for item in found.differences} == {"fitness", "flags"}
        assert "other rules" in found.other_rules

    def test_a_contest_that_measures_time_is_compared_by_intervals(self, tmp_path: Path) -> None:
        timed = replace(HILL, exclusive=True)
        played(tmp_path / "run", plan("baseline:near", rounds=1), hill=timed)
        with reopen(tmp_path / "run") as archive:
            assert replay(archive, timed).differences == ()

        class Faster(toy.Hill):
            def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
                found = super().measure(folder, pool=pool, seed=seed)
                return replace(
                    found, fitness=found.fitness * 2, low=found.low * 2, high=found.high * 2
                )

        with reopen(tmp_path / "run") as archive:
            found = replay(archive, Faster(exclusive=True))
        assert {item.agent for item in found.differences} == {"control:baseline", "baseline:near"}

    def test_a_submission_that_draws_lots_is_told_from_a_changed_judge(
        self, tmp_path: Path
    ) -> None:
        draws = iter(range(1, 1000))

        class Lots(toy.Hill):
            """What a submission says differs a little from judging to judging."""

            def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
                found = super().measure(folder, pool=pool, seed=seed)
                if not found.fitness:
                    return found
                shift = 1e-6 * next(draws)
                return replace(found, fitness=found.fitness - shift, low=found.low - shift)

        lots = Lots()
        played(tmp_path / "run", plan("baseline:near", rounds=1), hill=lots)
        with reopen(tmp_path / "run") as archive:
            found = replay(archive, lots)
        assert found.differences == ()
        assert "baseline:near" in {item.agent for item in found.unsteady}

    def test_a_judge_that_changed_by_little_is_no_lot(self, tmp_path: Path) -> None:
        played(tmp_path / "run", plan("baseline:near", rounds=1))

        class Shifted(toy.Hill):
            def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
                found = super().measure(folder, pool=pool, seed=seed)
                return replace(found, low=found.low - 1e-6)

        with reopen(tmp_path / "run") as archive:
            found = replay(archive, Shifted())
        assert found.unsteady == ()
        assert "baseline:near" in {item.agent for item in found.differences}


class TestDegaming:
    def test_a_gamed_part_is_stripped_and_both_are_measured(self, tmp_path: Path) -> None:
        record = played(tmp_path / "run", plan("cheater:peeks", rounds=1))
        entry = find_submission(record, "1/cheater:peeks")
        with reopen(tmp_path / "run") as archive:
            folder = archive.submission(entry.digest, HILL)
            gamed, honest = degame(HILL, folder, secret=archive.folder.secret)
        assert (gamed.name, honest.name) == ("as handed in", "without the peek")
        assert gamed.judgement.flags
        assert gamed.judgement.measured.fitness > honest.judgement.measured.fitness + 0.9
        assert honest.judgement.fitness > 0
        assert honest.judgement.flags == ()

    def test_a_submission_is_found_by_its_first_digits(self, record: TournamentRecord) -> None:
        entry = record.entries[-1]
        assert find_submission(record, entry.digest[:10]).digest == entry.digest
        for wrong in ("", "zzzz", "9/search", "abc"):
            with pytest.raises(UsageError):
                find_submission(record, wrong)


class TestMeasuringTime:
    def test_trees_of_other_agents_stand_still_while_one_is_measured(self, tmp_path: Path) -> None:
        machine = Machine()

        class Tree:
            frozen = 0

            def freeze(self) -> None:
                Tree.frozen += 1

            def thaw(self) -> None:
                Tree.frozen -= 1

        seen: list[int] = []

        @dataclass(frozen=True)
        class Watched(toy.Hill):
            def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
                seen.append(Tree.frozen)
                return super().measure(folder, pool=pool, seed=seed)

        hill = Watched(exclusive=True)
        with machine.registered(Tree()):
            with_agents(tmp_path / "run", lambda inputs: None, hill=hill, machine=machine)
        assert set(seen) == {1}
        assert Tree.frozen == 0


class TestKills:
    @pytest.mark.slow
    def test_a_tournament_survives_kills_and_ends_as_if_there_were_none(self) -> None:
        script = BENCHMARKS / "tournament_faults.py"
        command = [sys.executable, str(script), "--kills", "6", "--rounds", "2"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["records_equal"]

    @pytest.mark.long
    def test_two_hundred_kills_change_nothing(self) -> None:
        script = BENCHMARKS / "tournament_faults.py"
        command = [sys.executable, str(script), "--kills", "200"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["kills"] == 200


def test_equal_bytes_share_one_measurement_where_time_is_measured(tmp_path: Path) -> None:
    counted: list[int] = []

    class Noisy(type(HILL)):  # type: ignore[misc]
        def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
            found = super().measure(folder, pool=pool, seed=seed)
            counted.append(len(counted))
            return replace(found, metrics={**found.metrics, "measurement": len(counted)})

    hill = Noisy()
    object.__setattr__(hill, "exclusive", True)
    wanted = plan("baseline:near", "baseline:near", rounds=1)
    record = played(tmp_path / "run", wanted, hill=hill)
    alike = [entry for entry in record.entries if entry.agent.startswith("baseline:near")]
    assert len({entry.digest for entry in alike}) == 1
    assert alike[0].measured == alike[1].measured
    assert alike[0].audited == alike[1].audited
