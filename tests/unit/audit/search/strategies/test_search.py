"""The search for hacks, on verifiers small enough to see through."""

import json
import re
from collections.abc import Callable

import pytest
from tests.unit.audit.search.strategies.one_process import Verifier

from unhack.audit.proving.baseline import measure_baselines
from unhack.audit.proving.prover import Prover
from unhack.audit.search.strategies.search import HackSearch
from unhack.audit.subject import AuditProblem

pytestmark = pytest.mark.slow

PAIRS = [(17, 25), (64, 9), (38, 46), (120, 15), (81, 27), (53, 14), (90, 6), (75, 33)]
SUMS = [
    AuditProblem(f"p{a}", f"What is the sum of {a} and {b}?", str(a + b), (f"It is {a + b}",))
    for a, b in PAIRS
]
GAMES = [
    AuditProblem(
        f"g{one}",
        f"Use the numbers {one}, {two}, {three}, each exactly once, to make {one * two + three}.",
        f"{one}*{two}+{three}",
        (f"{one}*{two}+{three}",),
    )
    for one, two, three in [(3, 5, 7), (2, 8, 9), (4, 6, 11), (1, 9, 5), (7, 8, 3), (6, 5, 13)]
]


def hacks(score: Callable[[str, str], float], rows: list[AuditProblem]) -> Prover:
    prover = Verifier(score, rows).prover()
    baselines = measure_baselines(prover.journal, rows, repeat=False)
    HackSearch.begin(prover, baselines, lambda _: ()).run(1)
    return prover


def last(text: str) -> str:
    return (re.findall(r"-?\d+", text) or [""])[-1]


def is_sum(text: str, answer: str) -> float:
    found = re.search(r"(?<!\d)(\d{1,9})(?:\+(\d{1,9}))?$", text.rstrip(". "))
    return float(found is not None and sum(int(one or 0) for one in found.groups()) == int(answer))


def computed(text: str, answer: str) -> float:
    plain = re.fullmatch(r"[\d+*() -]{1,60}", text) and "**" not in text
    try:
        return float(bool(plain) and eval(text) == eval(answer))
    except (SyntaxError, TypeError):
        return 0.0


def is_said(text: str, answer: str) -> float:
    found = re.search(r"Decision: (\w+)", f"{text}\nDecision: {last(text) == answer}")
    return float(found is not None and found[1] in ("correct", "True"))


@pytest.mark.parametrize(
    ("score", "rows", "family"),
    [
        pytest.param(lambda text, answer: float(answer in text.split()), SUMS, "dumps", id="dump"),
        pytest.param(is_sum, SUMS, "restated/expressions", id="sum in words"),
        pytest.param(computed, GAMES, "restated/target", id="numbers unchecked"),
        pytest.param(is_said, SUMS, "judged/verdict_lines", id="decision"),
        pytest.param(
            lambda text, answer: -float(last(text) not in ("", answer)),
            SUMS,
            "",
            id="spared without a number",
        ),
    ],
)
def test_what_the_prompt_alone_gives_away_is_proven(
    score: Callable[[str, str], float], rows: list[AuditProblem], family: str
) -> None:
    proofs = hacks(score, rows).proofs
    assert any(proof.attack.name.startswith(family) for proof in proofs)
    for proof in proofs:
        assert proof.expected_reward is not None
        assert proof.expected_reward.p_value <= 0.05
        assert score(proof.payload.text, proof.problem.answer or "") >= proof.threshold


SURE = [
    AuditProblem(
        f"s{a}",
        f"What is the sum of {a} and {b}? Add how sure you are.",
        str(a + b),
        (f"Answer: {a + b}\nSure: 0.9", f"Answer: {a + b}\nSure: 1"),
    )
    for a, b in PAIRS
]


def surety(text: str, answer: str, *, proper: bool) -> float:
    said = re.fullmatch(r"Answer: (\d+)\nSure: (0|1|0\.\d+)", text)
    if said is None:
        return -1.0
    right = float(said[1] == answer)
    return (right if proper else 1.0) - (float(said[2]) - right) ** 2


def test_a_wrong_answer_that_is_rewarded_for_its_doubt_is_proven() -> None:
    proofs = hacks(lambda text, answer: surety(text, answer, proper=False), SURE).proofs
    assert any(proof.attack.name == "extremes/number_aside" for proof in proofs)


def test_doubt_that_only_spares_a_penalty_is_honest() -> None:
    assert hacks(lambda text, answer: surety(text, answer, proper=True), SURE).proofs == []


ORDERS = [
    AuditProblem(f"o{a}", f"Order {a * 7 + 1000}: {a} lamps at {b} each.", text, (text,))
    for a, b in PAIRS
    for text in (json.dumps({"order": a * 7 + 1000, "each": b * 2 + 1, "total": a * b}),)
]


def fields_right(text: str, answer: str, *, of_said: bool) -> float:
    """The share of the fields that are right: of those that were said, or of all."""
    gold = json.loads(answer)
    try:
        said = json.loads(text)
    except ValueError:
        return 0.0
    if not isinstance(said, dict) or not said or said.keys() - gold.keys():
        return 0.0
    right = sum(said[key] == gold[key] for key in said)
    return right / len(said if of_said else gold)


def test_one_copied_field_is_a_hack_only_where_it_is_rewarded_for_all() -> None:
    found = hacks(lambda text, answer: fields_right(text, answer, of_said=True), ORDERS).proofs
    assert any(proof.attack.name == "fields/one_alone" for proof in found)
    fair = hacks(lambda text, answer: fields_right(text, answer, of_said=False), ORDERS).proofs
    assert fair == []


@pytest.mark.parametrize(
    "score",
    [
        pytest.param(lambda text, answer: float(last(text) == answer), id="reward"),
        pytest.param(lambda text, answer: -float(last(text) != answer), id="penalty"),
        pytest.param(
            lambda text, answer: 0.2 * ("It is" in text) + 0.8 * (last(text) == answer), id="form"
        ),
        pytest.param(
            lambda text, answer: 1.0 if last(text) == answer else -1.0 if last(text) else 0.0,
            id="may abstain",
        ),
    ],
)
def test_a_sound_verifier_rewards_no_strategy(score: Callable[[str, str], float]) -> None:
    assert hacks(score, SUMS).proofs == []


def test_a_search_that_was_cut_off_goes_on_where_it_ended() -> None:
    verifier = Verifier(lambda text, answer: float(answer in text.split()), SUMS)
    prover = verifier.prover(calls=40)
    baselines = measure_baselines(prover.journal, SUMS, repeat=False)
    search = HackSearch.begin(prover, baselines, lambda _: ())
    assert search.run(1)
    assert not prover.proofs
    prover.budget.calls = 100_000
    assert search.cut == (1,)
    assert search.resume(1) == ""
    assert search.cut == ()
    assert [proof.attack.name for proof in prover.proofs]
