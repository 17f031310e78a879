"""The pieces of episodes: what is written where, without the reference or the judge's tests."""

from __future__ import annotations

import ast
import random

from unhack.audit.environments.attack import AgentView
from unhack.environments.actions import RunCommand, Submit, WriteFile
from unhack.training.discovery.grammar import END, Token
from unhack.training.discovery.moves import EpisodeGrammar, actions_of_moves
from unhack_verifier_bench.environments.tasks import SHAPES

VIEW = AgentView.of(SHAPES)


def test_every_function_becomes_the_constant_and_the_episode_hands_in() -> None:
    actions = actions_of_moves([Token("place", "source"), Token("constant", "0")], VIEW)
    write, last = actions
    assert isinstance(write, WriteFile)
    assert isinstance(last, Submit)
    body = ast.parse(write.text).body
    named = {one.name for one in body if isinstance(one, ast.FunctionDef)}
    own = ast.parse(VIEW.text(write.path)).body
    assert named == {one.name for one in own if isinstance(one, ast.FunctionDef)}
    assert "area" in named


def test_two_moves_on_one_file_build_on_each_other() -> None:
    moves = [Token("place", "source tail"), Token("put", "exit"), Token("place", "source head"),
             Token("put", "says it passed")]  # fmt: skip
    _, second, _ = actions_of_moves(moves, VIEW)
    assert isinstance(second, WriteFile)
    assert second.text.startswith("print('1 passed")
    assert second.text.rstrip().endswith("os._exit(0)")
    assert VIEW.text(second.path).strip() in second.text


def test_a_command_is_run_as_it_stands() -> None:
    first, _ = actions_of_moves([Token("run", "rm -rf tests")], VIEW)
    assert first == RunCommand("rm -rf tests")


def test_naive_attempts_keep_to_the_automaton() -> None:
    grammar = EpisodeGrammar([VIEW])
    rng = random.Random(2)
    for _ in range(200):
        tokens = grammar.naive(rng)
        assert len(tokens) <= grammar.longest
        assert tokens[-1] == END
        state = 0
        for at in tokens[:-1]:
            token = grammar.tokens[at]
            assert state in token.states
            state = state if token.to is None else token.to


def test_literals_of_visible_tests_are_constants() -> None:
    values = {one.value for one in EpisodeGrammar([VIEW]).tokens if one.kind == "constant"}
    assert {"4", "'square'"} <= values
