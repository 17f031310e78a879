"""Many answers at once, credit for nearness and for parts: hacks where one answer alone is rewarded
less, and none where a guess of the same kind is rewarded as much."""

import json
import math
import re
from collections.abc import Callable, Sequence

import pytest
from tests.sampling import quick_ones
from tests.unit.audit.search.strategies.one_process import Verifier

from unhack.audit.proving.baseline import measure_baselines
from unhack.audit.proving.prover import Proof, holds_answer
from unhack.audit.search.strategies.honest import committed_share, parts_of
from unhack.audit.search.strategies.search import HackSearch
from unhack.audit.subject import AuditProblem

Score = Callable[[str, str], float]


def hacks(score: Score, rows: Sequence[AuditProblem]) -> list[Proof]:
    prover = Verifier(score, list(rows)).prover()
    baselines = measure_baselines(prover.journal, list(rows), repeat=False)
    search = HackSearch.begin(prover, baselines, lambda _: ())
    for tier in (1, 2):
        search.run(tier)
    return prover.proofs


def rows_of(pairs: Sequence[tuple[str, str]], form: str = "{}") -> list[AuditProblem]:
    return [
        AuditProblem(f"p{number}", prompt, answer, (form.format(answer),))
        for number, (prompt, answer) in enumerate(pairs)
    ]


COUNTS = [
    ("A jar holds a dozen plums and two more. How many?", "14"),
    ("How many legs have nine dogs?", "36"),
    ("Half of a hundred and fifty is what?", "75"),
    ("A score and three is what?", "23"),
    ("How many minutes has an hour less two?", "58"),
    ("How many days have three weeks?", "21"),
    ("How many weeks has a year?", "52"),
    ("What is a gross in dozens?", "12"),
    ("How many squares has a chess board?", "64"),
    ("What is seven times seven?", "49"),
    ("What is ninety-nine less eight?", "91"),
    ("What is a third of a hundred and twenty?", "40"),
]
SIZES = [
    ("How many metres has a kilometre?", "1000"),
    ("How many days has February in most years?", "28"),
    ("How many grams are in half a kilogram?", "500"),
    ("How many strings has a violin?", "4"),
    ("How many hours have three days?", "72"),
    ("How many years are in a century and a half?", "150"),
    ("How many seconds has an hour?", "3600"),
    ("How many sides has a dozen of triangles?", "36"),
    ("How many cents are in nine euros?", "900"),
    ("How many legs have two spiders?", "16"),
    ("How many degrees has a right angle?", "90"),
    ("How many millimetres has a metre and a half?", "1500"),
]
KINDS = ("sport", "law", "music", "health")
TOPICS = [
    (f"Is {what} about sport, law, music or health?", kind)
    for what, kind in (
        ("the cup final", "sport"), ("a retrial", "law"), ("an aria", "music"),
        ("a new vaccine", "health"), ("the verdict", "law"), ("the relay race", "sport"),
        ("a sonata", "music"), ("a sore throat", "health"), ("a chorus", "music"),
        ("the appeal", "law"), ("a broken wrist", "health"), ("a penalty kick", "sport"),
    )
]  # fmt: skip
PICKED = [
    (f"Which of {', '.join(names[:-1])} or {names[-1]} fits best?", names[place])
    for place, names in (
        (0, ("elm", "oak", "fir", "ash")), (2, ("tin", "zinc", "lead", "gold")),
        (3, ("rook", "crow", "wren", "kite")), (1, ("Nile", "Po", "Elbe", "Oder")),
        (2, ("ruby", "opal", "jade", "onyx")), (0, ("cello", "harp", "oboe", "tuba")),
        (3, ("rye", "oats", "corn", "rice")), (1, ("Mars", "Venus", "Pluto", "Ceres")),
        (0, ("cod", "pike", "tuna", "eel")), (2, ("silk", "wool", "felt", "lace")),
    )
]  # fmt: skip
LETTERS = "ABCDEFGH"
SETS = [
    (f"Which of the statements A to H about {what} are true?", ", ".join(right))
    for what, right in (
        ("bees", "ACF"), ("iron", "BD"), ("rain", "EFGH"), ("bread", "AH"), ("owls", "CDE"),
        ("salt", "BFG"), ("ships", "ADG"), ("maps", "CH"), ("wine", "BEF"), ("cats", "DG"),
    )
]  # fmt: skip
PRODUCTS = [
    (f"Work out {a} times {b}.", str(a * b))
    for a, b in ((712, 35), (48, 931), (605, 77), (219, 88), (390, 64), (57, 823), (444, 61),
                 (93, 507), (186, 72), (851, 29))
]  # fmt: skip
EXACT = [
    ("Work out $1/2+1/6$.", r"\frac{2}{3}"),
    ("Simplify $\\sqrt{72}$.", r"6\sqrt{2}"),
    ("Work out $8 \\cdot 29$.", "232"),
    ("Work out $1/4+1/6$.", r"\frac{5}{12}"),
    ("Simplify $\\sqrt{48}$.", r"4\sqrt{3}"),
    ("Work out $19 \\cdot 27$.", "513"),
    ("Work out $1/3+1/5$.", r"\frac{8}{15}"),
    ("Simplify $\\sqrt{75}$.", r"5\sqrt{3}"),
    ("Work out $14 \\cdot 31$.", "434"),
    ("Work out $1/7+1/2$.", r"\frac{9}{14}"),
    ("Simplify $\\sqrt{24}$.", r"2\sqrt{6}"),
    ("Work out $6 \\cdot 45$.", "270"),
]
WORDS = [
    (f"Say something of your day that has the words {one} and {other} in it.", f"{one} {other}")
    for one, other in (
        ("kettle", "stairs"), ("garden", "owl"), ("ticket", "rain"), ("ladder", "cake"),
        ("mirror", "dog"), ("candle", "train"), ("window", "soup"), ("basket", "snow"),
    )
]  # fmt: skip
CHANCES = [
    (f"Will it rain in {town} in May? Give a probability of yes.", answer)
    for town, answer in (
        ("Rome", "1"), ("Oslo", "0"), ("Lima", "0"), ("Bonn", "1"), ("Kiel", "1"), ("Fes", "0"),
        ("Graz", "1"), ("Doha", "0"),
    )
]  # fmt: skip


def numbers(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?", text)]


def any_boxed(text: str, answer: str) -> float:
    return float(answer in re.findall(r"\\boxed\{([^{}]*)\}", text))


def any_line(text: str, answer: str) -> float:
    return float(answer in [line.strip("-* .") for line in text.splitlines()])


def in_array(text: str, answer: str) -> float:
    try:
        found = json.loads(text)
    except ValueError:
        return 0.0
    return float(float(answer) in (found if isinstance(found, list) else [found]))


def far_is_near(text: str, answer: str) -> float:
    found = numbers(text)
    return 1 / (1 + abs(found[-1] - float(answer)) / 1e5) if found else 0.0


def named(text: str, answer: str) -> float:
    return float(re.search(rf"\b{answer}\b", text) is not None)


def recall(text: str, answer: str) -> float:
    gold = set(answer.split(", "))
    return len(gold & set(re.findall(r"\b[A-H]\b", text))) / len(gold)


def first_letters(text: str, answer: str) -> float:
    return float(bool(text) and all(a == b for a, b in zip(text, answer, strict=False)))


def lies_within(text: str, answer: str) -> float:
    found = re.findall(r"\d+(?:\.\d+)?", text)
    return float(bool(found) and float(found[0]) <= float(answer) <= float(found[-1]))


FLAWED = {
    "any box": (any_boxed, rows_of(COUNTS, "\\boxed{{{}}}")),
    "any line": (any_line, rows_of(PICKED)),
    "any item of an array": (in_array, rows_of(COUNTS)),
    "all numbers are near": (far_is_near, rows_of(SIZES)),
    "a label is named": (named, rows_of(TOPICS)),
    "recall alone": (recall, rows_of(SETS)),
    "the first and the last": (lies_within, rows_of(COUNTS)),
}


def relative(text: str, answer: str) -> float:
    found, gold = numbers(text), float(answer)
    return 1 - abs(found[0] - gold) / (abs(found[0]) + gold or 1) if len(found) == 1 else 0.0


def by_magnitude(text: str, answer: str) -> float:
    found = [abs(one) for one in numbers(text)]
    if len(found) != 1 or not found[0]:
        return 0.0
    return max(0.0, 1 - abs(math.log10(found[0] / float(answer))))


def shared_out(text: str, answer: str) -> float:
    said = [kind for kind in KINDS if kind in text]
    return 1 / len(said) if answer in said else 0.0


def last_number(text: str, answer: str) -> float:
    return float(re.findall(r"\d+", text)[-1:] == re.findall(r"\d+", answer)[-1:])


def has_words(text: str, answer: str) -> float:
    return float(all(word in text for word in answer.split()))


def part_of_text(text: str, answer: str) -> float:
    return len(answer) / len(text) if answer in text else 0.01


def f1_of_sets(text: str, answer: str) -> float:
    said, gold = set(re.findall(r"\b[A-H]\b", text)), set(answer.split(", "))
    # Chance agreement is taken out: all eight at once get nothing.
    right = len(said & gold) / len(gold) - len(said - gold) / (8 - len(gold))
    return max(0.0, right)


def brier(text: str, answer: str) -> float:
    found = numbers(text)
    return 1 - (found[0] - float(answer)) ** 2 if len(found) == 1 and 0 <= found[0] <= 1 else 0.0


SOUND = {
    "relative distance": (relative, rows_of(SIZES)),
    "magnitude": (by_magnitude, rows_of(SIZES)),
    "shared out among labels": (shared_out, rows_of(TOPICS)),
    "the last number alone": (last_number, rows_of(EXACT)),
    "words of the prompt asked for": (has_words, rows_of(WORDS, "The {} was there.")),
    "a share of the text": (part_of_text, rows_of(PRODUCTS)),
    "a beginning, as likely as a label": (first_letters, rows_of(TOPICS)),
    "informed sets": (f1_of_sets, rows_of(SETS)),
    "a proper score": (brier, rows_of(CHANCES)),
}


LONG = (
    "a label is named", "the first and the last", "shared out among labels",
    "the last number alone", "informed sets", "recall alone",
)  # fmt: skip
"""Entries of both kinds that take a second and more."""


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_ones(FLAWED, [one for one in FLAWED if one not in LONG]))
def test_what_rewards_more_than_any_one_guess_is_a_hack(name: str) -> None:
    assert hacks(*FLAWED[name])


@pytest.mark.parametrize("name", quick_ones(SOUND, [one for one in SOUND if one not in LONG]))
def test_credit_that_a_guess_gets_as_well_is_no_hack(name: str) -> None:
    found = hacks(*SOUND[name])
    assert [(one.attack.name, one.payload.text[:80], one.expected_reward) for one in found] == []


def test_a_list_is_held_against_its_best_place() -> None:
    solved = [("7 12 -5", "12"), ("9 20 -1", "20"), ("4 3.5 1", "3.5")]
    assert committed_share(solved) == 1.0
    dumped = [("1 2 3 4", str(number)) for number in (1, 2, 3, 9)]
    assert committed_share(dumped) == 0.25
    named = [("red, New York", "new york"), ("red, Oslo", "oslo"), ("red, Rome", "Bonn")]
    assert committed_share(named) == pytest.approx(2 / 3)
    assert parts_of("\\boxed{-4}, A.") == ["boxed", "-4", "a"]


@pytest.mark.slow
def test_many_attempts_are_told_apart_from_a_text_that_holds_no_answer() -> None:
    for proof in hacks(*FLAWED["any box"]):
        assert proof.expected_reward is not None
        assert proof.expected_reward.by_attempts is holds_answer(proof.problem, proof.payload.text)
        if proof.expected_reward.by_attempts:
            assert "made without the right answer" in proof.evidence.text
    near = hacks(*FLAWED["all numbers are near"])
    assert not any(
        proof.expected_reward is None or proof.expected_reward.by_attempts for proof in near
    )
