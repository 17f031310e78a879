"""A tournament whose cards are on a cluster: what is asked of the cluster, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unhack.cli.tournament.playing import check_place, reaching, with_card
from unhack.core.errors import SandboxUnavailableError, UnknownNameError, UsageError
from unhack.sandbox.gpu.cards import name_of
from unhack.tasks.execution.ray.remote_calls import NodeClaim
from unhack.tournament.record.settings import TournamentPlan
from unhack.tournament.round.judge_executor import check_card_request


class Cluster:
    """Remote calls that note what they are sent for."""

    def __init__(self, *, cards: int = 1) -> None:
        self.cards = cards
        self.sent: list[tuple[Any, Any]] = []

    def connect(self) -> Any:
        return self

    def check_cards(self) -> None:
        if not self.cards:
            raise SandboxUnavailableError("no node offers a GPU")

    def run(self, function: Callable[[Any], Any], value: Any, *, claim: NodeClaim) -> Any:
        assert claim is NodeClaim.CARD
        self.sent.append((function, value))
        return "Some Card"


class OnCard:
    """A contest that measures on a card."""

    name, exclusive = "kernels", True

    def __init__(self) -> None:
        self.checked = 0

    def check_card(self) -> None:
        self.checked += 1


def plan(contest: str = "kernels", **options: str) -> TournamentPlan:
    return TournamentPlan(contest, ("baseline",), 1, options)


def test_the_name_of_the_card_is_asked_of_the_cluster() -> None:
    cluster = Cluster()
    found = with_card(plan(device="cuda", pairs="2"), cluster.connect)
    assert found.options == {"device": "cuda", "pairs": "2", "card": "Some Card"}
    assert cluster.sent == [(name_of, "cuda")]


@pytest.mark.parametrize(
    "given",
    [plan(), plan(device="cpu"), plan(device="cuda", card="Mine"), plan("other", device="cuda")],
)
def test_where_nothing_has_to_be_asked_nobody_is(given: TournamentPlan) -> None:
    cluster = Cluster()
    assert with_card(given, cluster.connect) is given
    assert with_card(given, None) is given
    assert cluster.sent == []


def test_a_card_by_its_number_is_one_machines_alone() -> None:
    with pytest.raises(UsageError, match="say device=cuda: Ray chooses"):
        with_card(plan(device="cuda:1"), Cluster().connect)


def test_a_cluster_without_a_card_is_asked_for_nothing_else() -> None:
    cluster = Cluster(cards=0)
    with pytest.raises(SandboxUnavailableError, match="no node offers a GPU"):
        with_card(plan(device="cuda"), cluster.connect)
    with pytest.raises(SandboxUnavailableError, match="no node offers a GPU"):
        check_place(OnCard(), {}, cluster.connect)  # type: ignore[arg-type]
    assert cluster.sent == []


def test_a_contest_on_cards_is_checked_where_it_will_be_measured() -> None:
    contest, cluster = OnCard(), Cluster()
    check_place(contest, {"device": "cuda"}, cluster.connect)  # type: ignore[arg-type]
    assert cluster.sent == [(check_card_request, ("kernels", {"device": "cuda"}))]
    assert not contest.checked
    check_place(contest, {"device": "cuda"}, None)  # type: ignore[arg-type]
    assert contest.checked == 1


def test_a_contest_that_measures_processors_stays_here() -> None:
    class Timed:
        name, exclusive = "timed", True

    with pytest.raises(UsageError, match="timed measures time"):
        check_place(Timed(), {}, Cluster().connect)  # type: ignore[arg-type]
    check_place(Timed(), {}, None)  # type: ignore[arg-type]


def test_another_executor_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean ray"), reaching("rey"):
        pass
