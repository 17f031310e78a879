"""Screening: all strategies once, and then more of those that are rewarded."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tests.unit.audit.search.strategies.one_process import Verifier

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.proving.baseline import Baseline, measure_baselines
from unhack.audit.search.strategies.screening import Screening
from unhack.audit.search.strategies.strategy import PolicyKnowledge, Strategy
from unhack.audit.subject import AuditProblem

ROWS = [AuditProblem(f"p{k}", f"Which number is {k} + 70?", str(k + 70), ("x",)) for k in range(5)]


def attack(name: str, flaw: str, *, payloads: int) -> Attack:
    def make(known: Knowledge) -> list[Payload]:
        return [Payload(f"{name} {place}", Claim.NO_ANSWER) for place in range(payloads)]

    return Attack(f"{name}/x", flaw, 1, False, make)


class Record:
    """Gains by text, and what was asked."""

    def __init__(self, rewarded: Sequence[str]) -> None:
        self.rewarded = rewarded
        self.asked: list[tuple[str, str]] = []

    def __call__(self, asked: Sequence[tuple[Strategy, Baseline, Payload]]) -> list[float]:
        self.asked += [(payload.text, one.problem.id) for _, one, payload in asked]
        return [float(payload.text in self.rewarded) for _, _, payload in asked]


def begin(
    record: Record, attacks: Sequence[Attack], *, calls: int = 1000, suspected: Sequence[str] = ()
) -> Screening:
    prover = Verifier(lambda text, answer: float(text == "x"), ROWS).prover(calls=calls)
    baselines = measure_baselines(prover.journal, ROWS, repeat=False)
    known = PolicyKnowledge(ROWS, None)
    return Screening.begin(
        prover, baselines, attacks, known=known, gains_of=record, suspected=suspected
    )


def test_each_strategy_has_one_call_before_any_has_two() -> None:
    record = Record([])
    begin(
        record, [attack("one", "hedging", payloads=7), attack("two", "bool_int", payloads=3)]
    ).run(kept=0)
    first = [text for text, _ in record.asked[:10]]
    assert len(set(first)) == 10
    assert set(Counter(text for text, _ in record.asked).values()) == {3}
    assert len(set(record.asked)) == len(record.asked)


def test_what_is_rewarded_is_tried_on_every_screened_problem() -> None:
    record = Record(["one 4"])
    screening = begin(record, [attack("one", "hedging", payloads=7)])
    assert screening.run(kept=0) == ""
    counts = Counter(text for text, _ in record.asked)
    assert counts["one 4"] == len(ROWS)
    gains = {one.place: screening.gain(one) for one in screening.gains}
    assert gains == {place: float(place == 4) for place in range(7)}


def test_a_screening_that_was_cut_goes_on_where_it_stopped() -> None:
    record = Record([])
    screening = begin(record, [attack("one", "hedging", payloads=7)], calls=12)
    screening.prover.budget.calls = 12
    taken = screening.gains_of

    def counted(asked: Sequence[tuple[Strategy, Baseline, Payload]]) -> list[float]:
        screening.prover.budget.calls -= len(asked)
        return taken(asked)

    screening.gains_of = counted
    assert screening.run(kept=2) == "its share of the calls is used up"
    assert len(record.asked) == 10
    screening.prover.budget.calls = 100
    assert screening.run(kept=0) == ""
    assert len(record.asked) == len(set(record.asked)) == 21


def test_a_flaw_that_the_source_is_suspected_of_goes_ahead() -> None:
    record = Record([])
    attacks = [attack("one", "hedging", payloads=3), attack("two", "bool_int", payloads=3)]
    begin(record, attacks, suspected=["bool_int"]).run(kept=0)
    assert [text for text, _ in record.asked[:4]] == ["two 0", "two 1", "two 2", "one 0"]


def test_what_needs_no_answer_comes_before_what_does() -> None:
    record = Record([])
    attacks = [attack("one", "hedging", payloads=2), attack("two", "bool_int", payloads=2)]
    begin(record, [attacks[0], replace(attacks[1], generic=True)]).run(kept=0)
    assert [text for text, _ in record.asked[:4]] == ["two 0", "one 0", "two 1", "one 1"]


def test_what_the_oracle_does_not_call_wrong_gains_nothing() -> None:
    record = Record(["70 71 72 73 74"])

    def make(known: Knowledge) -> list[Payload]:
        return [Payload("70 71 72 73 74", Claim.NO_ANSWER)]

    screening = begin(record, [Attack("dump/x", "hedging", 1, False, make)])
    screening.run(kept=0)
    assert [screening.gain(one) for one in screening.gains] == [0.0]
