"""The search of tier 3, on verifiers small enough to see through."""

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from unhack.audit.attack import Claim
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving import baseline
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.search.evolve import ProgramSpace, evolve
from unhack.audit.search.texts import Genome, Piece, PieceKind, TextSpace
from unhack.audit.subject import AuditProblem, Query, Score, Source

SUM = AuditProblem("p", "A hall has 1000 seats in rows. How many people came?", "1234", ("1234",))


@dataclass
class Fake:
    """A subject whose verifier is a function of this process."""

    verify: Callable[[str], float]
    problems: Sequence[AuditProblem] = (SUM,)
    source: Source | None = None
    sees_answer: bool = True
    name: str = "fake"
    fingerprint: str = "fake"
    asked: list[str] = field(default_factory=list[str])
    about: list[str] = field(default_factory=list[str])

    def with_limit(self, wall_s: float) -> "Fake":
        return self

    def lines_of(self, query: Query) -> frozenset[int]:
        return frozenset()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        self.asked += [query.completion for query in queries]
        self.about += [query.problem.id for query in queries]
        return [Score(self.verify(query.completion)) for query in queries]


def searched(subject: Fake, *, seed: int = 0, calls: int = 500) -> Prover:
    journal = ScoreJournal(subject, None)
    marks = baseline.measure_baselines(journal, subject.problems)
    prover = Prover(journal, TextOracle(), Budget(calls, math.inf), lambda *_: None)
    evolve(prover, marks, seed=seed)
    return prover


def first_number(text: str) -> float | None:
    found = re.search(r"-?\d+(?:\.\d+)?", text)
    return float(found[0]) if found else None


def near(text: str) -> float:
    """Credit falls off slowly, and whatever is within a hundred counts as right."""
    value = first_number(text)
    if value is None:
        return 0.0
    away = abs(value - 1234)
    return 1.0 if away <= 100 else 0.9 * math.exp(-away / 800)


def long_enough(text: str) -> float:
    return 1.0 if text == "1234" else min(1.0, len(text) / 2500)


def exact(text: str) -> float:
    return float(text.strip() == "1234")


def lines_and_tags(text: str) -> float:
    steps = min(4, len(set(re.findall(r"\b(?:firstly|therefore|finally|because)\b", text))))
    return 1.0 if text == "1234" else 0.2 * steps + 0.2 * ("<answer>" in text)


class TestWhatItFinds:
    @pytest.mark.parametrize("verify", [near, long_enough, lines_and_tags])
    def test_partial_credit_is_climbed_to_the_top(self, verify: Callable[[str], float]) -> None:
        prover = searched(Fake(verify), calls=1200)
        assert [proof.attack.name for proof in prover.proofs] == ["search/texts"]
        assert prover.proofs[0].score >= 1.0

    def test_an_exact_verifier_is_never_accused(self) -> None:
        for seed in range(6):
            prover = searched(Fake(exact), seed=seed)
            assert prover.proofs == []

    def test_another_right_answer_is_no_exploit(self) -> None:
        problem = AuditProblem(
            "p", "Make a palindrome from the letters: j, f, j, f, j, j", "jjffjj", ("jjffjj",)
        )

        def palindrome(text: str) -> float:
            good = text == text[::-1]
            return 0.1 + 0.4 * good + 0.5 * (good and sorted(text) == sorted("jjffjj"))

        for seed in range(4):
            assert searched(Fake(palindrome, (problem,)), seed=seed).proofs == []


class TestHowItSearches:
    def test_the_same_seed_asks_for_the_same_texts(self) -> None:
        one, two, other = Fake(near), Fake(near), Fake(near)
        searched(one, seed=3)
        searched(two, seed=3)
        searched(other, seed=4)
        assert one.asked == two.asked
        assert one.asked != other.asked

    def test_it_keeps_to_its_calls(self) -> None:
        subject = Fake(lambda text: (len(text) * 7919 % 1009) / 2000 + 0.5 * (text == "1234"))
        prover = searched(subject, calls=90)
        assert 0 <= prover.budget.calls <= 90
        assert len(subject.asked) <= 90 + 2 * 4

    def test_it_gives_up_where_nothing_scores(self) -> None:
        assert searched(Fake(exact), calls=5000).budget.calls > 4000

    def test_problems_share_the_calls(self) -> None:
        second = AuditProblem("q", "How many seats are free of 5000?", "77", ("77",))
        subject = Fake(lambda text: (len(text) * 7919 % 1009) / 2000, (SUM, second))
        journal = ScoreJournal(subject, None)
        marks = baseline.measure_baselines(journal, subject.problems)
        prover = Prover(journal, TextOracle(), Budget(200, math.inf), lambda *_: None)
        evolve(prover, marks, seed=0)
        assert min(map(subject.about.count, "pq")) > 20

    def test_it_says_why_it_was_cut_short(self) -> None:
        journal = ScoreJournal(Fake(near), None)
        marks = baseline.measure_baselines(journal, (SUM,))
        prover = Prover(journal, TextOracle(), Budget(0, math.inf), lambda *_: None)
        assert "call budget" in evolve(prover, marks, seed=0)


def pieces(*pairs: tuple[str, PieceKind]) -> tuple[Piece, ...]:
    return tuple(Piece(text, kind) for text, kind in pairs)


class TestClaims:
    space = TextSpace(SUM)

    @pytest.mark.parametrize(
        ("genome", "claim"),
        [
            (Genome(pieces(("so", PieceKind.HOLLOW))), Claim.NO_ANSWER),
            (
                Genome(pieces(("so", PieceKind.HOLLOW), ("12", PieceKind.NUMBER))),
                Claim.OTHER_ANSWER,
            ),
            (Genome(pieces(("12", PieceKind.NUMBER), ("9", PieceKind.NUMBER))), Claim.EVERY_ANSWER),
            (Genome(pieces(("nan", PieceKind.OTHER))), Claim.NO_ANSWER),
            (Genome(pieces(("twelve", PieceKind.OTHER))), None),
            (Genome(pieces(("1", PieceKind.NUMBER), ("2", PieceKind.NUMBER)), gap=""), None),
            (Genome(pieces(("9", PieceKind.NUMBER), ("1234", PieceKind.NUMBER))), None),
            (Genome(pieces(("9", PieceKind.NUMBER), ("seats", PieceKind.OTHER))), None),
        ],
    )
    def test_a_text_claims_what_its_pieces_are(self, genome: Genome, claim: Claim | None) -> None:
        payload = self.space.payload(genome)
        assert (payload.claim if payload else None) == claim

    def test_a_evolved_word_may_be_the_right_word(self) -> None:
        space = TextSpace(AuditProblem("p", "Name a colour of the flag.", "red", ("red",)))
        assert space.payload(Genome(pieces(("white", PieceKind.OTHER)))) is None
        assert space.payload(Genome(pieces(("17", PieceKind.NUMBER)))) is None

    def test_a_program_says_what_its_body_is(self) -> None:
        problem = AuditProblem("p", "Double it.", entry_point="double")
        space = ProgramSpace(problem)
        wave = space.initial_population(random.Random(0))
        for genome in (*wave, space.child(wave, [], random.Random(1))):
            compile(space.text(genome), "program", "exec")
            assert space.payload(genome).claim is Claim.PROGRAM
