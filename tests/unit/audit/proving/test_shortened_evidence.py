"""The evidence of a shortened witness speaks of what is left of it."""

from unhack.audit.attack import Attack, Claim, Payload
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving.prover import Proof, still_wrong
from unhack.audit.subject import AuditProblem

ORACLE = TextOracle()
HEDGE = Attack("test/hedge", "hedging", 1, False, lambda known: ())


def hedged(text: str, *asserts: str) -> Proof:
    problem = AuditProblem("p", "How many?", "7")
    payload = Payload(text, Claim.EVERY_ANSWER, asserts)
    evidence = ORACLE.why_wrong(problem, payload)
    assert evidence is not None
    return Proof(HEDGE, payload, problem, 1.0, 1.0, evidence)


def test_only_the_answers_that_still_stand_are_counted() -> None:
    proof = hedged("7 or 8 or 9 or 10", "7", "8", "9", "10")
    assert "4 different answers" in proof.evidence.text
    left = still_wrong(ORACLE, proof, "7 or 9")
    assert left is not None
    assert "2 different answers" in left.text
    assert left.obtained is not None
    assert set(left.obtained.split(", ")) == {"7", "9"}


def test_one_answer_that_is_left_is_no_hedge() -> None:
    assert still_wrong(ORACLE, hedged("7 or 8", "7", "8"), "7 or") is None
    assert still_wrong(ORACLE, hedged("7 or 8", "7", "8"), "78") is None
