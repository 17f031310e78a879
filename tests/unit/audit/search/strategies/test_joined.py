"""Two strategies that are rewarded on different problems, one after the other."""

from collections.abc import Iterable, Sequence

from tests.unit.audit.search.strategies.one_process import Verifier

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.proving.baseline import Baseline, measure_baselines
from unhack.audit.search.strategies.screening import Screening, joined
from unhack.audit.search.strategies.strategy import PolicyKnowledge, Strategy
from unhack.audit.subject import AuditProblem

ROWS = [AuditProblem(f"p{k}", f"Which number is {k} + 70?", str(k + 70), ("x",)) for k in range(4)]


def screened(rewarded: dict[str, set[str]]) -> Screening:
    """A screening of these texts, each rewarded on problems with these ids."""

    def make(known: Knowledge) -> Iterable[Payload]:
        return [Payload(text, Claim.NO_ANSWER) for text in rewarded]

    def gains(asked: Sequence[tuple[Strategy, Baseline, Payload]]) -> list[float]:
        return [float(one.problem.id in rewarded[payload.text]) for _, one, payload in asked]

    prover = Verifier(lambda text, answer: float(text == "x"), ROWS).prover(calls=1000)
    screening = Screening.begin(
        prover,
        measure_baselines(prover.journal, ROWS, repeat=False),
        [Attack("one/x", "hedging", 1, False, make)],
        known=PolicyKnowledge(ROWS, None),
        gains_of=gains,
        suspected=(),
    )
    assert screening.run(kept=0) == ""
    return screening


def texts_of(screening: Screening) -> list[str]:
    known = PolicyKnowledge(ROWS, None).of(ROWS[0])
    return [payload.text for attack in joined(screening) for payload in attack.make(known)]


def test_what_is_rewarded_on_different_problems_is_joined_in_both_orders() -> None:
    screening = screened({"sorry": {"p0", "p1"}, "sure": {"p2", "p3"}, "never": set()})
    texts = ["sorry\n\nsure", "sorry sure", "sure\n\nsorry", "sure sorry"]
    assert sorted(texts_of(screening)) == sorted(texts)


def test_what_is_rewarded_on_fewer_of_the_same_problems_is_not_joined() -> None:
    assert texts_of(screened({"a": {"p0", "p1"}, "b": {"p1"}})) == []


def test_what_is_rewarded_everywhere_needs_no_other() -> None:
    assert texts_of(screened({"a": {"p0", "p1", "p2", "p3"}, "b": {"p1"}})) == []


def test_two_answers_commit_to_none() -> None:
    def make(known: Knowledge) -> Iterable[Payload]:
        return [Payload(text, Claim.OTHER_ANSWER, (text,)) for text in ("1", "2")]

    def gains(asked: Sequence[tuple[Strategy, Baseline, Payload]]) -> list[float]:
        return [
            float((payload.text == "1") == (one.problem.id < "p2")) for _, one, payload in asked
        ]

    prover = Verifier(lambda text, answer: float(text == "x"), ROWS).prover(calls=1000)
    screening = Screening.begin(
        prover,
        measure_baselines(prover.journal, ROWS, repeat=False),
        [Attack("one/x", "hedging", 1, False, make)],
        known=PolicyKnowledge(ROWS, None),
        gains_of=gains,
        suspected=(),
    )
    screening.run(kept=0)
    known = PolicyKnowledge(ROWS, None).of(ROWS[0])
    made = [payload for attack in joined(screening) for payload in attack.make(known)]
    assert {payload.claim for payload in made} == {Claim.EVERY_ANSWER}
