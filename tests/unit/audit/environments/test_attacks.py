"""The attacks: what an agent can see is all that they are made from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from unhack.audit.environments.attack import AgentView, EnvironmentAttack
from unhack.audit.environments.episode_runner import actions_of
from unhack.audit.environments.proving import witness_of
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.audit.report.flaws import FLAWS
from unhack_verifier_bench.environments.pairs import WINS_AGAINST
from unhack_verifier_bench.environments.tasks import PLANTED_TASKS, SHAPES

EVERY = list(ENVIRONMENT_ATTACKS.values())


def test_there_are_at_least_fifty_and_each_has_a_grader_that_it_wins_against() -> None:
    assert len(ENVIRONMENT_ATTACKS) >= 50
    assert set(ENVIRONMENT_ATTACKS) - set(WINS_AGAINST) == {"pumped_steps"}


def test_nearly_every_row_of_the_catalogue_is_attacked() -> None:
    rows = {row for one in EVERY for row in one.rows}
    assert set(range(1, 69)) - rows == {5, 8, 10, 25, 65}


@pytest.mark.parametrize("attack", EVERY, ids=lambda one: one.name)
def test_an_attack_makes_actions_for_every_task(attack: EnvironmentAttack) -> None:
    assert attack.flaw in FLAWS
    for task in PLANTED_TASKS.values():
        lines = witness_of(actions_of(attack, task)).split("\n")
        assert lines
        assert len(lines[0]) >= 20_000 or json.loads(lines[0])["action"]


@pytest.mark.parametrize("attack", EVERY, ids=lambda one: one.name)
def test_an_attack_knows_neither_hidden_tests_nor_reference(attack: EnvironmentAttack) -> None:
    other = replace(SHAPES, tests={"tests/test_hidden.py": "x"}, reference={"src/a.py": "y"})
    assert actions_of(attack, SHAPES) == actions_of(attack, other)


def test_the_view_of_an_agent_is_the_start_state_and_the_statement() -> None:
    view = AgentView.of(SHAPES)
    assert view.tests == ("tests/test_core.py",)
    assert view.sources == ("src/shapes/__init__.py", "src/shapes/core.py")
    assert view.root == "src/"
    assert "area(3, 4) == 12" in view.shown[-1]
