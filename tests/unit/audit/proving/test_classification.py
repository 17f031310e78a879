"""A cause is called by the class of which the greatest share gets through."""

from unhack.audit.attack import Attack, Claim, Payload
from unhack.audit.proving.classification import class_of
from unhack.audit.proving.prover import Proof
from unhack.audit.report.report import Tried
from unhack.audit.subject import AuditProblem
from unhack.core.finding import Evidence


def proof(flaw: str, answer: str = "1, 4, 9") -> Proof:
    attack = Attack(f"test/{flaw}", flaw, 1, False, lambda known: ())
    payload = Payload("x", Claim.OTHER_ANSWER, ("x",))
    problem = AuditProblem("p", "What?", answer)
    return Proof(attack, payload, problem, 1.0, 1.0, Evidence("other_answer", "it is wrong"))


def tried(flaw: str, passed: int, payloads: int) -> Tried:
    return Tried(f"test/{flaw}", 1, payloads, passed, min(passed, 3))


def test_the_class_of_which_most_passes_is_the_name() -> None:
    proofs = [proof("many_attempts"), proof("order_ignored")]
    records = [tried("many_attempts", 8, 50), tried("order_ignored", 4, 4)]
    assert class_of(proofs, records) == "order_ignored"


def test_a_lead_of_the_source_decides_between_equals() -> None:
    proofs = [proof("hedging"), proof("many_attempts")]
    records = [tried("hedging", 5, 9), tried("many_attempts", 5, 9)]
    assert class_of(proofs, records) == "hedging"
    assert class_of(proofs, records, {"many_attempts"}) == "many_attempts"


def test_a_vague_class_is_the_name_only_when_nothing_else_passes() -> None:
    records = [tried("unanchored_regex", 30, 40), tried("suffix_match", 3, 6)]
    vague = proof("unanchored_regex")
    assert class_of([vague, proof("suffix_match")], records, {"unanchored_regex"}) == "suffix_match"
    assert class_of([vague], records) == "unanchored_regex"


def test_a_number_that_is_near_is_a_matter_of_tolerance() -> None:
    records = [tried("low_similarity", 4, 4), tried("loose_tolerance", 4, 4)]
    found = [proof("low_similarity", "0.9"), proof("loose_tolerance", "0.9")]
    assert class_of(found, records) == "loose_tolerance"
