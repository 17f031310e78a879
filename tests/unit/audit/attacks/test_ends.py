"""Sequences from the start that a prompt names to its end, without the way."""

from unhack.audit.attack import payloads_by
from unhack.audit.attacks.from_prompt.judged import ATTACKS
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem


def made(prompt: str, shown: str, answer: str) -> list[str]:
    donor = AuditProblem("d", shown, answer, (answer,))
    known = view_of(AuditProblem("p", prompt, "never seen", ("never seen",)), donor, None)
    return [one.text for one in payloads_by(ATTACKS[0], known)]


def test_the_ends_stand_where_those_of_the_donor_do() -> None:
    texts = made(
        "Change cold to warm, one letter at a time.",
        "Change cat to dog, one letter at a time.",
        "cat -> cot -> dot -> dog",
    )
    assert texts[0] == "cold -> warm"
    assert texts[2] == " -> ".join(["cold"] * 40 + ["warm"])
    assert "warm -> cold" in texts


def test_the_longest_words_before_an_item_decide() -> None:
    texts = made(
        "Start in room K7. The exit is in room B2.",
        "Start in room A1. The exit is in room C3.",
        "A1, A2, C3",
    )
    assert texts[0] == "K7, B2"


def test_every_prompt_gives_as_many() -> None:
    shown = "Walk from A to D."
    one = made("Walk from K to B.", shown, "A, B, D")
    assert len(one) == len(made("Walk from K over Q to Z.", shown, "A, B, D"))


def test_no_sequence_is_made_where_the_donor_has_none() -> None:
    assert made("Walk from K to B.", "How far is A from D?", "12") == []
    assert made("Walk on.", "Walk from A to D.", "A, B, D") == []
