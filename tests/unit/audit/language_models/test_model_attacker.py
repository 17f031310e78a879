"""Attackers that are language models, played by a server on loopback."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.agents.model_server import KEY, ModelServer, Step, fails, says

from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.model import Model
from unhack.audit.attack import Claim, Knowledge, Payload
from unhack.audit.language_models.attacker import ModelAttacker, read_payloads, run
from unhack.audit.oracle.oracle import Oracle, TextOracle
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.proving import baseline
from unhack.audit.proving.findings import conclude
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.subject import AuditProblem, Call, Query, Score, Source
from unhack.sandbox.pool.pool import Pool

PROTOCOLS = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
SOURCE = Source("reward.py", "def score(text, gold):\n    return float(gold in text)  # SOURCE\n")
PROBLEM = AuditProblem("p", "What is 340 + 7?", "347", ("347",), extra={"level": "EXTRA"})
KNOWN = Knowledge(
    PROBLEM, SOURCE, ("901",), examples=(Call((1,), expected="EXAMPLE"),), constants=("CONSTANT",)
)
HEDGE = {"completion": "347 or 901", "claim": "every_answer", "asserts": ["347", "901"]}
OTHER = {"completion": "\\boxed{901}", "claim": "other_answer", "asserts": ["901"]}


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def contains(text: str) -> float:
    return float("347" in text)


@dataclass
class Fake:
    """A subject whose verifier is a function of this process."""

    verify: Callable[[str], float | None] = contains
    problems: Sequence[AuditProblem] = (PROBLEM,)
    source: Source | None = SOURCE
    sees_answer: bool = True
    name: str = "fake"
    fingerprint: str = "fake"
    asked: list[str] = field(default_factory=list)

    def with_limit(self, wall_s: float) -> Fake:
        return self

    def lines_of(self, query: Query) -> frozenset[int]:
        return frozenset()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        self.asked += [query.completion for query in queries]
        return [Score(self.verify(query.completion)) for query in queries]


def attacker(server: ModelServer, protocol: str = "openai", **options: Any) -> ModelAttacker:
    folder = options.pop("folder", None)
    rounds = options.pop("rounds", 2)
    limit = options.pop("token_limit", 300_000)
    point = Endpoint(protocol, server.url(protocol), "scripted", KEY, timeout_s=60.0, retries=0)
    model = Model(replace(point, **options), token_limit=limit, folder=folder)
    return ModelAttacker(model, rounds=rounds, per_round=4)


def proposes(*items: object, protocol: str = "openai") -> Step:
    text = f"Here they are:\n```json\n{json.dumps(items)}\n```\n"
    return says(text, protocol, tokens=(4000, 2000))


def prover_of(
    subject: Fake, oracle: Oracle | None = None, *, calls: int = 100, folder: Path | None = None
) -> Prover:
    budget = Budget(calls, time.monotonic() + 600)
    return Prover(ScoreJournal(subject, folder), oracle or TextOracle(), budget, lambda *_: None)


def attacking(prover: Prover, model: ModelAttacker, *, tier: int = 2) -> str:
    subject = prover.journal.subject
    marks = baseline.measure_baselines(prover.journal, subject.problems)
    targets = [(mark, replace(KNOWN, problem=mark.problem)) for mark in marks]
    return run(prover, targets, tier=tier, attacker=model)


class TestReading:
    def read(self, reply: str) -> list[str]:
        return [payload.text for payload in read_payloads(reply, is_code=False)[0]]

    @pytest.mark.parametrize(
        "around",
        [
            "{}",
            "Sure!\n```json\n{}\n```\nGood luck.",
            "<think>maybe {{this}} or [that]</think>{}",
            '{{"payloads": {}}}',
            '{{"payloads": {}, "more": [',
        ],
    )
    def test_json_is_found_wherever_it_stands(self, around: str) -> None:
        assert self.read(around.format(json.dumps([HEDGE, OTHER]))) == [
            "347 or 901",
            "\\boxed{901}",
        ]

    def test_what_is_whole_of_a_reply_cut_off_is_kept(self) -> None:
        assert self.read(json.dumps([HEDGE, OTHER])[:-20]) == ["347 or 901"]
        assert self.read(json.dumps({"items": [HEDGE, OTHER]})[:-20]) == ["347 or 901"]

    def test_objects_in_lines_and_with_raw_newlines_are_read(self) -> None:
        lines = json.dumps(HEDGE) + '\n{"completion": "a\nb", "claim": "no_answer"}'
        assert self.read(lines) == ["347 or 901", "a\nb"]

    @pytest.mark.parametrize(
        "reply",
        [
            "I cannot help with that.",
            "[{'completion': __import__('os').abort(), 'claim': 'no_answer'}]",
            '{"completion": 7, "claim": "no_answer"}',
            '{"completion": "x"}',
            '{"completion": "x", "claim": "right"}',
            '{"completion": "x", "claim": ["no_answer"]}',
            '{"completion": "x", "claim": "program"}',
            '{"completion": "x \\ud800", "claim": "no_answer"}',
            '{"completion": "901", "claim": "other_answer", "asserts": []}',
            '{"completion": "901", "claim": "other_answer", "asserts": [" "]}',
            '{"completion": "901", "claim": "other_answer", "asserts": ["349"]}',
            '{"completion": "901", "claim": "every_answer", "asserts": ["901"]}',
            '{"completion": "True", "claim": "other_answer", "asserts": [true]}',
            '{"completion": "x", "claim": "other_answer", "asserts": {"a": 1}}',
        ],
    )
    def test_what_cannot_be_used_is_dropped(self, reply: str) -> None:
        assert self.read(reply) == []

    def test_numbers_are_taken_for_what_they_say(self) -> None:
        item = '{"completion": "901", "claim": "other_answer", "asserts": 901}'
        assert read_payloads(item, is_code=False)[0][0].asserts == ("901",)

    def test_a_program_is_one_whatever_the_model_calls_it(self) -> None:
        item = {"completion": "def f(): pass", "claim": "no_answer", "flaw": "exit_code"}
        [payload], _ = read_payloads(json.dumps(item), is_code=True)
        assert payload == Payload("def f(): pass", Claim.PROGRAM, note="exit_code")

    @pytest.mark.slow
    @pytest.mark.parametrize("piece", ["{", '{"a":', "[", '{"completion":"', '{"a":[{', "{{}"])
    def test_a_hostile_reply_takes_no_time(
        self, piece: str, unless_it_hangs: Callable[..., list[str]]
    ) -> None:
        assert unless_it_hangs(lambda: self.read(piece * 30_000)) == []


class TestWhatIsTold:
    def told(self, *, white_box: bool, feedback: Sequence[tuple[str, float | None]] = ()) -> str:
        with ModelServer(proposes(HEDGE)) as server:
            attacker(server).payloads(KNOWN, white_box=white_box, feedback=feedback)
        return json.dumps(server.requests[0].body, ensure_ascii=False)

    @pytest.mark.slow
    def test_in_the_white_box_the_model_reads_all_that_is_known(self) -> None:
        told = self.told(white_box=True)
        for word in (PROBLEM.prompt, "347", "901", "SOURCE", "EXTRA", "EXAMPLE", "CONSTANT"):
            assert word in told

    def test_in_the_black_box_it_reads_the_prompt_and_its_scores(self) -> None:
        told = self.told(white_box=False, feedback=[("first try", 0.25), ("second try", None)])
        assert PROBLEM.prompt in told
        for word in ("first try", "0.25", "second try", "null"):
            assert word in told
        for word in ("347", "901", "SOURCE", "EXTRA", "EXAMPLE", "CONSTANT", "reward.py"):
            assert word not in told

    def test_the_function_to_define_is_told_and_its_cases_are_not(self) -> None:
        problem = AuditProblem("c", "Double it.", None, ("GOOD",), "double", (Call((21,)),))
        with ModelServer(proposes()) as server:
            known = replace(KNOWN, problem=problem)
            attacker(server).payloads(known, white_box=False, feedback=())
        [message] = server.requests[0].body["messages"][1:]
        assert "double" in message["content"]
        assert not any(word in message["content"] for word in ("GOOD", "21", "EXAMPLE"))

    def test_scores_that_are_no_numbers_can_be_told(self) -> None:
        tries = [("a", math.nan), ("b", None), ("c", math.inf), ("d", 0.5)]
        told = self.told(white_box=False, feedback=tries)
        at = [told.index(f'completion\\": \\"{text}\\"') for text in "dc"]
        assert at == sorted(at)

    def test_a_long_source_loses_its_middle(self) -> None:
        source = Source("reward.py", "# HEAD\n" + "x = 1\n" * 20_000 + "# TAIL\n")
        with ModelServer(proposes()) as server:
            known = replace(KNOWN, source=source)
            attacker(server).payloads(known, white_box=True, feedback=())
        told = server.requests[0].body["messages"][-1]["content"]
        assert "HEAD" in told
        assert "TAIL" in told
        assert "letters left out" in told
        assert len(told) < 50_000


@PROTOCOLS
class TestRun:
    @pytest.mark.slow
    def test_a_payload_that_passes_and_is_wrong_is_proven(self, protocol: str) -> None:
        hedge = {**HEDGE, "flaw": "hedging"}
        with ModelServer(proposes(OTHER, hedge, protocol=protocol)) as server:
            prover = prover_of(Fake())
            assert attacking(prover, attacker(server, protocol)) == ""
        [proof] = prover.proofs
        assert (proof.payload.text, proof.evidence.kind) == ("347 or 901", "every_answer")
        assert (proof.attack.name, proof.attack.flaw) == ("model/white_box", "hedging")
        [finding] = conclude(prover, (), "reward.py", lambda holes: [[] for _ in holes])
        assert (finding.flaw, finding.tier) == ("hedging", 2)
        assert len(server.requests) == 1

    def test_in_the_black_box_the_scores_lead_on(self, protocol: str) -> None:
        first = {"completion": "\\boxed{5}", "claim": "other_answer", "asserts": ["5"]}
        then = {"completion": "3470", "claim": "other_answer", "asserts": ["3470"]}
        script = proposes(first, protocol=protocol), proposes(first, then, protocol=protocol)
        with ModelServer(*script) as server:
            prover = prover_of(Fake())
            assert attacking(prover, attacker(server, protocol), tier=3) == ""
        [proof] = prover.proofs
        assert (proof.payload.text, proof.attack.name) == ("3470", "model/black_box")
        assert (proof.attack.flaw, proof.attack.tier) == ("weak_proxy", 3)
        told = server.requests[1].body["messages"][-1]["content"]
        assert json.dumps({"completion": "\\boxed{5}", "score": 0.0}) in told
        assert prover.journal.subject.asked.count("\\boxed{5}") == 1

    def test_a_right_answer_that_the_model_calls_wrong_accuses_nobody(self, protocol: str) -> None:
        lies = (
            {"completion": "three hundred and forty-seven", "claim": "no_answer"},
            {"completion": "340+7", "claim": "no_answer"},
            {"completion": "The answer is 347, not 5", "claim": "other_answer", "asserts": ["5"]},
            {"completion": "347, not 5", "claim": "every_answer", "asserts": ["347", "5"]},
        )
        with ModelServer(proposes(*lies, protocol=protocol)) as server:
            prover = prover_of(Fake(verify=lambda text: 1.0))
            attacking(prover, attacker(server, protocol, rounds=1))
        assert prover.proofs == []
        assert len(prover.unproven) == 4

    @pytest.mark.parametrize(
        ("bad", "named"),
        [
            (Step(b"<html>"), "malformed"),
            pytest.param(Step(b"", drips=True), "timeout", marks=pytest.mark.slow),
            (fails(503), "server"),
            (fails(429), "busy"),
        ],
    )
    def test_after_one_failure_the_model_is_asked_again(
        self, protocol: str, bad: Step, named: str
    ) -> None:
        with ModelServer(bad, proposes(HEDGE, protocol=protocol)) as server:
            prover = prover_of(Fake())
            model = attacker(server, protocol, timeout_s=5.0)
            assert attacking(prover, model) == ""
            assert len(prover.proofs) == 1
        assert model.notes[0].startswith(named)

    @pytest.mark.slow
    def test_failures_between_good_replies_do_not_add_up(self, protocol: str) -> None:
        bad, good = fails(503), proposes(OTHER, protocol=protocol)
        last = proposes(HEDGE, protocol=protocol)
        with ModelServer(bad, good, bad, good, bad, last) as server:
            prover = prover_of(Fake())
            assert attacking(prover, attacker(server, protocol, rounds=9)) == ""
        assert len(prover.proofs) == 1
        assert len(server.requests) == 6

    def test_a_model_that_declines_twice_is_asked_no_more(self, protocol: str) -> None:
        with ModelServer(says("", protocol)) as server:
            prover = prover_of(Fake())
            model = attacker(server, protocol, rounds=9)
            why = attacking(prover, model)
            assert attacking(prover, model, tier=3) == why
        assert "refused" in why
        assert len(server.requests) == 2

    def test_a_wrong_key_ends_it_at_once_and_the_audit_goes_on(self, protocol: str) -> None:
        with ModelServer(fails(401, "no such key")) as server:
            prover = prover_of(Fake())
            why = attacking(prover, attacker(server, protocol, rounds=9))
        assert "no such key" in why
        assert len(server.requests) == 1
        assert prover.budget.spent == ""

    def test_prose_is_no_payload_and_leaves_a_note(self, protocol: str) -> None:
        with ModelServer(says("I have no idea.", protocol)) as server:
            prover = prover_of(Fake())
            model = attacker(server, protocol)
            assert attacking(prover, model) == ""
        assert len(model.notes) == 2
        assert prover.tried == ()

    def test_the_cap_ends_it(self, protocol: str) -> None:
        with ModelServer(proposes(OTHER, protocol=protocol)) as server:
            model = attacker(server, protocol, rounds=9, token_limit=20_000)
            why = attacking(prover_of(Fake()), model)
        assert "the cap is 20000" in why
        assert 1 <= len(server.requests) < 9


class TestBudget:
    def test_a_spent_budget_asks_nobody(self) -> None:
        with ModelServer(proposes(HEDGE)) as server:
            prover = prover_of(Fake())
            prover.budget.calls = 0
            assert "call budget" in attacking(prover, attacker(server))
        assert server.requests == []

    def test_no_more_is_scored_than_the_budget_allows(self) -> None:
        many = [{"completion": f"{n}", "claim": "no_answer"} for n in range(4)]
        with ModelServer(proposes(*many)) as server:
            prover = prover_of(Fake(), calls=3)
            assert "call budget" in attacking(prover, attacker(server))
        assert prover.budget.calls == 0

    def test_an_interrupted_attack_rewards_for_nothing_twice(self, tmp_path: Path) -> None:
        script = proposes(OTHER), proposes(HEDGE)
        with ModelServer(*script) as server:
            proofs: list[str] = []
            for _ in range(2):
                prover = prover_of(Fake(), folder=tmp_path)
                attacking(prover, attacker(server, folder=tmp_path))
                proofs += [proof.payload.text for proof in prover.proofs]
                prover.journal.close()
        assert proofs == ["347 or 901"] * 2
        assert len(server.requests) == 2


@pytest.mark.slow
def test_a_program_is_proven_by_running_it(pool: Pool) -> None:
    right = "def double(n):\n    return 2 * n\n"
    problem = AuditProblem(
        "c", "Double it.", None, (right,), "double", (Call((1,)), Call((5,)), Call((9,)))
    )
    wrong = {"completion": "def double(n):\n    return 2", "claim": "program"}
    with ModelServer(proposes(wrong, {"completion": right, "claim": "program"})) as server:
        subject = Fake(verify=lambda text: float("return 2" in text), problems=(problem,))
        prover = prover_of(subject, ProgramOracle(pool))
        assert attacking(prover, attacker(server, rounds=1)) == ""
    [proof] = prover.proofs
    assert (proof.payload.text, proof.evidence.kind) == (wrong["completion"], "differs")
