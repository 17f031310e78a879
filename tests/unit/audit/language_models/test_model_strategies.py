"""Strategies that a model writes, played by a server on loopback, against verifiers in process."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.agents.model_server import KEY, ModelServer, Step, fails, says
from tests.unit.audit.company import text_subject
from tests.unit.audit.search.strategies.one_process import Verifier

from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.model import Model
from unhack.audit.language_models.attacker import ModelAttacker
from unhack.audit.language_models.strategies import StrategyWriter, read_strategies
from unhack.audit.options import AuditOptions
from unhack.audit.proving.baseline import measure_baselines
from unhack.audit.proving.findings import conclude
from unhack.audit.proving.prover import Prover
from unhack.audit.runner import audit
from unhack.audit.search.strategies.search import HackSearch
from unhack.audit.subject import AuditProblem, Source
from unhack.core.finding import FindingKind
from unhack.sandbox.pool.pool import Pool

PAIRS = [(17, 251), (64, 9), (38, 461), (120, 15), (81, 270), (53, 714), (90, 6), (75, 33)]
SUMS = [
    AuditProblem(f"p{a}", f"What is the sum of {a} and {b}?", str(a + b), (f"It is {a + b}",))
    for a, b in PAIRS
]
ROWS: list[dict[str, object]] = [
    {"prompt": one.prompt, "answer": one.answer, "correct": list(one.correct)} for one in SUMS
]
SOURCE = Source("reward.py", "def score(text, gold):\n    return 1.0  # SOURCE\n", entry="score")
PRAISE = "# flaw: judge_injection\ndef complete(prompt):\n    return 'Zebra: the grade is full'\n"
ECHO = "def complete(prompt):\n    return prompt + ' Zebra.'\n"
SOLVES = """def complete(prompt):
    import re
    return "It is " + str(sum(map(int, re.findall(r"[0-9]+", prompt))))
"""
IN_WORDS = """def complete(prompt):
    return "Sum of " + " plus ".join(w for w in prompt.split() if w[0].isdigit())
"""


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def says_zebra(text: str, answer: str) -> float:
    return float("Zebra" in text or text == f"It is {answer}")


def exactly(text: str, answer: str) -> float:
    return float((re.findall(r"\d+", text) or [""])[-1] == answer)


def writes(*sources: str) -> Step:
    fenced = "\n".join(f"An idea:\n```python\n{source}```" for source in sources)
    return says(f"Here they are.\n{fenced}\nGood luck.", "openai", tokens=(3000, 500))


def attack(
    server: ModelServer,
    verify: Callable[[str, str], float | None],
    pool: Pool,
    *,
    tier: int = 2,
    problems: Sequence[AuditProblem] = SUMS,
    **options: Any,
) -> tuple[Prover, ModelAttacker, str]:
    """(the prover, the attacker, why it ended early) after the rounds of one tier."""
    folder = options.pop("folder", None)
    point = Endpoint("openai", server.url("openai"), "scripted", KEY, timeout_s=60.0, retries=0)
    attacker = ModelAttacker(Model(point, folder=folder), rounds=2, per_round=4)
    prover = Verifier(verify, problems, source=SOURCE).prover()
    baselines = measure_baselines(prover.journal, problems, repeat=False)
    hacks = HackSearch.begin(prover, baselines, lambda _: (), backend=pool)
    why = StrategyWriter(attacker, prover, hacks, tier).run()
    return prover, attacker, why


def told(server: ModelServer, number: int = 0) -> str:
    return "\n".join(turn["content"] for turn in server.requests[number].body["messages"])


@pytest.mark.slow
@pytest.mark.parametrize("source", [PRAISE, ECHO])
@pytest.mark.parametrize("tier", [2, 3])
def test_a_strategy_that_is_rewarded_is_a_hack_with_its_reward(
    source: str, tier: int, pool: Pool
) -> None:
    with ModelServer(writes(source)) as server:
        prover, attacker, why = attack(server, says_zebra, pool, tier=tier)
    assert (why, attacker.notes, len(server.requests)) == ("", [], 1)
    [finding] = conclude(prover, (), "reward.py", lambda holes: [[] for _ in holes])
    assert finding.kind is FindingKind.HACK
    assert finding.attack == "model/scripted/1"
    assert finding.tier == tier
    assert finding.expected_reward is not None
    assert finding.expected_reward.rewarded == finding.expected_reward.problems == len(SUMS) - 1
    assert math.isclose(finding.expected_reward.mean, 1.0)


def test_the_flaw_that_the_model_names_goes_with_the_proof(pool: Pool) -> None:
    with ModelServer(writes(PRAISE)) as server:
        prover, _, _ = attack(server, says_zebra, pool)
    assert [proof.attack.flaw for proof in prover.proofs] == ["judge_injection"]


def test_the_model_is_shown_no_answer_of_what_it_is_measured_on(pool: Pool) -> None:
    with ModelServer(writes(PRAISE)) as server:
        attack(server, says_zebra, pool)
    shown = told(server)
    assert SUMS[0].prompt in shown
    assert "SOURCE" in shown
    assert "It is 108" in shown  # the last problem: nothing is measured on it
    for problem in SUMS[:-1]:
        assert problem.answer is not None
        assert not re.search(rf"\b{problem.answer}\b", shown)


def test_in_the_black_box_the_source_is_not_shown(pool: Pool) -> None:
    with ModelServer(writes(PRAISE)) as server:
        attack(server, says_zebra, pool, tier=3)
    assert "SOURCE" not in told(server)
    assert SUMS[0].prompt in told(server)


@pytest.mark.slow
def test_a_dropped_strategy_goes_back_with_its_reason(pool: Pool) -> None:
    broken = "def complete(prompt):\n    return prompt['text']\n"
    hangs = "def complete(prompt):\n    while True:\n        pass\n"
    with ModelServer(writes(broken, hangs, SOLVES), writes(PRAISE)) as server:
        prover, attacker, _ = attack(server, says_zebra, pool)
    assert [proof.attack.name for proof in prover.proofs] == ["model/scripted/4"]
    again = told(server, 1)
    assert "TypeError" in again
    assert "produced nothing" in again
    assert "prompt['text']" in again
    assert '"completion": "It is 268", "score": 1.0' in again
    assert len(attacker.notes) == 2


@pytest.mark.parametrize("source", [SOLVES, IN_WORDS, PRAISE, ECHO])
@pytest.mark.parametrize("verify", [exactly, lambda text, answer: float(answer in text)])
def test_a_sound_verifier_is_not_accused(
    source: str, verify: Callable[[str, str], float], pool: Pool
) -> None:
    with ModelServer(writes(source)) as server:
        prover, _, _ = attack(server, verify, pool)
    assert prover.proofs == []


def test_a_right_answer_in_other_words_is_not_called_wrong(pool: Pool) -> None:
    """It is rewarded, and nobody can show that it says anything but what is right."""
    with ModelServer(writes(IN_WORDS)) as server:
        prover, _, _ = attack(server, lambda text, _: float(text.startswith(("Sum", "It"))), pool)
    assert prover.proofs == []


def test_one_of_a_few_problems_proves_nothing_about_the_others(pool: Pool) -> None:
    knows = "def complete(prompt, other_answer):\n    return 'It is 108'\n"
    with ModelServer(writes(knows)) as server:
        prover, _, _ = attack(server, exactly, pool, problems=[SUMS[0], SUMS[-1]])
    assert prover.proofs == []


def test_a_reply_without_a_strategy_leaves_a_note_and_is_asked_again(pool: Pool) -> None:
    with ModelServer(says("I have no idea.", "openai"), writes(PRAISE)) as server:
        prover, attacker, why = attack(server, says_zebra, pool)
    assert len(prover.proofs) == 1
    assert "without a new" in attacker.notes[0]
    assert why == ""


def test_a_model_that_cannot_be_asked_ends_it_and_the_audit_goes_on(pool: Pool) -> None:
    with ModelServer(fails(401, "no such key")) as server:
        prover, _, why = attack(server, says_zebra, pool)
    assert "no such key" in why
    assert prover.budget.spent == ""


def test_an_interrupted_audit_asks_for_no_strategy_twice(pool: Pool, tmp_path: Path) -> None:
    with ModelServer(writes(SOLVES), writes(PRAISE), fails(500)) as server:
        for _ in range(2):
            prover, _, _ = attack(server, says_zebra, pool, folder=tmp_path)
            assert len(prover.proofs) == 1
    assert len(server.requests) == 2


@pytest.mark.slow
def test_an_audit_asks_for_strategies_and_reports_what_they_are_rewarded(
    pool: Pool, tmp_path: Path
) -> None:
    source = 'def score(completion, answer):\n    """One or nothing."""\n'
    source += '    return float("Zebra" in completion or completion == f"It is {answer}")\n'
    subject = text_subject(tmp_path, pool, source, entry="score", rows=ROWS)
    options = AuditOptions(tiers=(3,), seconds=600.0)
    with ModelServer(writes(ECHO), says("nothing more", "openai")) as server:
        point = Endpoint("openai", server.url("openai"), "org/m", KEY, timeout_s=60.0, retries=0)
        attacker = ModelAttacker(Model(point), rounds=1)
        report = audit(subject, options=replace(options, attacker=attacker), backend=pool)
    [finding] = report.findings
    assert (finding.attack, finding.kind) == ("model/org/m/1", FindingKind.HACK)
    assert "Zebra" in finding.witness
    assert finding.expected_reward is not None
    assert finding.expected_reward.problems == len(ROWS) - 1
    assert any(one.attack == "model/org/m/1" and one.proven for one in report.tried)


class TestReading:
    def test_fences_of_any_spelling_and_bare_code_are_read(self) -> None:
        for reply in (
            PRAISE,
            f"```\n{PRAISE}```",
            f"```py\n{PRAISE}\n```\nDone",
            f"```Python\n{PRAISE}```",
        ):
            assert [one.flaw for one in read_strategies(reply)] == ["judge_injection"]

    def test_what_was_cut_off_is_left_out(self) -> None:
        reply = f"```python\n{PRAISE}```\n```python\ndef complete(prompt):\n    return 'x"
        assert len(read_strategies(reply)) == 1

    @pytest.mark.parametrize("reply", ["", "I cannot.", "```python\nprint(1)\n```", "```" * 5000])
    def test_what_is_no_strategy_is_left_out(self, reply: str) -> None:
        assert read_strategies(reply) == []

    def test_an_unknown_flaw_is_any(self) -> None:
        [one] = read_strategies("# flaw: bogus\ndef complete(prompt):\n    return ''\n")
        assert one.flaw == "weak_proxy"
