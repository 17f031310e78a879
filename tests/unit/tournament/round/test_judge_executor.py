"""Judging on other machines: the same tournament, and refusals where it would be another."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tournament.hill import HILL, plan, played, toy

from unhack.core.errors import SandboxError, SandboxUnavailableError, UsageError
from unhack.sandbox.distributions import versions
from unhack.tasks.execution.ray.remote_calls import NodeClaim, answer, result_of
from unhack.tournament.contest import Terms
from unhack.tournament.judging.judge import Seeds
from unhack.tournament.judging.submission import freeze
from unhack.tournament.review.canonical import canonical_hash
from unhack.tournament.round import judge_executor
from unhack.tournament.round.judge_executor import JudgeRequest, RemoteJudges, judge_request
from unhack.tournament.round.rounds import begin, line_up, play


class LocalCalls:
    """In the place of `RemoteCalls`: values and results cross as bytes."""

    def __init__(self, known: dict[str, str] | None = None) -> None:
        self.calls = 0
        self.on_card = 0
        self._known = known or versions()

    def check_cards(self) -> None:
        """See `RemoteCalls`."""

    def run(
        self, function: Callable[[Any], Any], value: Any, *, claim: NodeClaim = NodeClaim.CORE
    ) -> Any:
        """See `RemoteCalls`."""
        self.calls += 1
        self.on_card += claim is NodeClaim.QUIET_CARD
        there, given = _crossed((function, value))
        return result_of(_crossed(answer(there, given, self._known)))


def _crossed(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301  (bytes of this very process)


@pytest.fixture(autouse=True)
def hill_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy contest is found by its name, as the contests of the package are."""

    def find(name: str, options: dict[str, str]) -> Any:
        assert name == HILL.name
        return HILL

    monkeypatch.setattr(judge_executor, "load_contest", find)
    judge_executor._loaded.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.slow
def test_a_tournament_judged_on_nodes_is_the_same_one(tmp_path: Path) -> None:
    here = played(tmp_path / "here", jobs=1)
    calls = LocalCalls()
    make = toy.maker(HILL, (tmp_path / "there").with_suffix(".book"))
    with begin(tmp_path / "there", plan(), HILL, seed=3) as archive:
        judges = RemoteJudges(calls, archive.settings, HILL)
        there = play(line_up(archive, HILL, make=make, judges=judges), jobs=1)
    assert canonical_hash(there) == canonical_hash(here)
    assert calls.calls >= len([entry for entry in there.entries if not entry.problem])


def test_a_contest_that_measures_time_is_refused(tmp_path: Path) -> None:
    class Timed:
        name = "timed"
        exclusive = True

    with (
        begin(tmp_path / "out", plan(), HILL, seed=3) as archive,
        pytest.raises(UsageError, match="timed measures time"),
    ):
        RemoteJudges(LocalCalls(), archive.settings, Timed())  # type: ignore[arg-type]


def _request(tmp_path: Path) -> JudgeRequest:
    files = next(iter(HILL.submissions.honest().values()))
    place = tmp_path / "workspace"
    for path, data in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    frozen = freeze(place, HILL, into=tmp_path / "frozen")
    with begin(tmp_path / "out", plan(), HILL, seed=3) as archive:
        settings = archive.settings
    return JudgeRequest(settings, frozen.digest, files, Seeds(1, 2), Terms(1), (), ())


def test_files_that_are_not_the_frozen_ones_are_refused(tmp_path: Path) -> None:
    request = _request(tmp_path)
    assert judge_request(request).digest == request.digest
    changed = {path: data + b"\n" for path, data in request.files.items()}
    with pytest.raises(SandboxError, match=f"{request.digest[:12]} arrived as"):
        judge_request(replace(request, files=changed))


def test_a_machine_with_other_rules_names_itself_and_judges_nothing(tmp_path: Path) -> None:
    request = _request(tmp_path)
    other = replace(request, settings=replace(request.settings, hash="another"))
    with pytest.raises(SandboxError, match=r"node .*: this tournament was begun under other rules"):
        LocalCalls().run(judge_request, other)


def test_another_version_of_unhack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"the caller has unhack 0\.0\.0 \(node .*: "):
        LocalCalls({"unhack": "0.0.0"}).run(judge_request, _request(tmp_path))


def _unable(value: str) -> None:
    raise SandboxUnavailableError(value)


def test_a_machine_that_cannot_isolate_is_named_with_the_command() -> None:
    with pytest.raises(SandboxUnavailableError, match=r"node .*: no namespaces; `unhack doctor`"):
        LocalCalls().run(_unable, "no namespaces")


TURNS = itertools.count()


class OnCard(type(HILL)):  # type: ignore[misc]
    """The toy contest as one that measures on a card; no two measurements are the same."""

    def measure(self, folder: Path, **asked: Any) -> Any:
        """See `Contest`."""
        found = super().measure(folder, **asked)
        return replace(found, metrics={**found.metrics, "ms": next(TURNS)})

    def check_card(self) -> None:
        """See `NeedsCard`."""


@pytest.fixture
def on_card(monkeypatch: pytest.MonkeyPatch) -> Any:
    hill = OnCard(**{f.name: getattr(HILL, f.name) for f in fields(HILL) if f.init})
    object.__setattr__(hill, "exclusive", True)
    monkeypatch.setattr(judge_executor, "load_contest", lambda name, options: hill)
    return hill


@pytest.mark.slow
class TestAContestThatNeedsACard:
    def test_every_judging_is_made_with_one_that_has_its_node_quiet(
        self, tmp_path: Path, on_card: Any
    ) -> None:
        calls = LocalCalls()
        make = toy.maker(on_card, tmp_path / "out.book")
        with begin(tmp_path / "out", plan(), on_card, seed=3) as archive:
            judges = RemoteJudges(calls, archive.settings, on_card)
            lineup = line_up(archive, on_card, make=make, judges=judges)
            record = play(lineup, jobs=1)
        assert record.entries
        assert calls.on_card == calls.calls > len(record.confirmations)

    def test_the_same_bytes_are_measured_once_in_a_round(
        self, tmp_path: Path, on_card: Any
    ) -> None:
        calls = LocalCalls()
        make = toy.maker(on_card, tmp_path / "out.book")
        with begin(tmp_path / "out", plan(), on_card, seed=3) as archive:
            judges = RemoteJudges(calls, archive.settings, on_card)
            lineup = line_up(archive, on_card, make=make, judges=judges)
            record = play(lineup, jobs=4)
        alike = [e for e in record.entries if e.measured is not None and e.measured.valid]
        assert alike
        for entry in alike:
            twins = [e for e in alike if (e.round, e.digest) == (entry.round, entry.digest)]
            assert {str(e.measured) for e in twins} == {str(entry.measured)}

    def test_agents_here_have_no_card_and_the_machine_is_not_stopped(
        self, tmp_path: Path, on_card: Any
    ) -> None:
        calls = LocalCalls()
        with begin(tmp_path / "out", plan(), on_card, seed=3) as archive:
            judges = RemoteJudges(calls, archive.settings, on_card)
        assert judges.agents_card(on_card) == ""
        assert not judges.is_local
