"""From payloads to findings, on verifiers small enough to see through."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from unhack.audit.attack import Attack, Claim, Knowledge, Payload
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving import baseline
from unhack.audit.proving.findings import conclude
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover, still_wrong
from unhack.audit.subject import AuditProblem, Query, Score, Source
from unhack.core.errors import UsageError
from unhack.core.finding import ExpectedReward
from unhack.store.errors import StoreError

PROBLEM = AuditProblem("p", "What is 3 + 4?", "7", ("7", "The answer is 7"))
NEVER = math.inf


@dataclass
class Fake:
    """A subject whose verifier is a function of this process."""

    verify: Callable[[str], float | None]
    problems: Sequence[AuditProblem] = (PROBLEM,)
    source: Source | None = None
    sees_answer: bool = True
    name: str = "fake"
    fingerprint: str = "fake"
    asked: list[str] = field(default_factory=list)

    def with_limit(self, wall_s: float) -> "Fake":
        return self

    def lines_of(self, query: Query) -> frozenset[int]:
        return frozenset()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        self.asked += [query.completion for query in queries]
        return [Score(self.verify(query.completion)) for query in queries]


def prover_of(subject: Fake, folder: Path | None = None, *, calls: int = 1000) -> Prover:
    journal = ScoreJournal(subject, folder)
    return Prover(journal, TextOracle(), Budget(calls, NEVER), lambda *_: None)


def attack(*payloads: Payload, name: str = "a/b", generic: bool = False) -> Attack:
    return Attack(
        name, "substring_match", tier=1, for_code=False, make=lambda _: payloads, generic=generic
    )


def contains(text: str) -> float:
    return float("7" in text)


class TestProofsThatDoNotHold:
    def _proven(self, verify: Callable[[str], float | None]) -> Prover:
        prover = prover_of(Fake(verify))
        [mark] = baseline.measure_baselines(prover.journal, [PROBLEM])
        texts = ("it is 12 or so, not a bit less", "it may be 13")
        for text, answer in zip(texts, ("12", "13"), strict=True):
            payload = Payload(text, Claim.OTHER_ANSWER, (answer,))
            assert prover.weigh(mark, attack(payload), payload, score=Score(1.0))
        return prover

    def test_another_payload_of_the_cause_stands_in_for_a_witness_that_fails(self) -> None:
        prover = self._proven(
            lambda text: float(text == "it is 12 or so, not a bit less" or "7" in text)
        )
        [found] = conclude(prover, (), "", lambda holes: [[] for _ in holes])
        assert found.witness == "it is 12 or so, not a bit less"

    def test_without_any_that_passes_again_nothing_is_found(self) -> None:
        assert conclude(self._proven(contains), (), "", lambda holes: [[] for _ in holes]) == []


class TestScreening:
    def test_a_text_is_screened_once_and_scored_as_often_as_asked(self) -> None:
        subject = Fake(contains)
        journal = ScoreJournal(subject, None)
        queries = [Query(PROBLEM, "7"), Query(PROBLEM, "8"), Query(PROBLEM, "7")]
        assert [one.value for one in journal.screen(queries)] == [1.0, 0.0, 1.0]
        journal.screen(queries[:1])
        assert subject.asked == ["7", "8"]
        journal.score(queries[:1])
        assert subject.asked == ["7", "8", "7"]


class TestBaseline:
    def test_the_lowest_score_of_a_correct_completion_is_the_threshold(self) -> None:
        subject = Fake(lambda text: 0.8 if text == "7" else contains(text))
        [mark] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert (mark.threshold, mark.null, mark.rejected) == (0.8, 0.0, ())

    def test_a_correct_completion_that_is_rejected_does_not_lower_it(self) -> None:
        subject = Fake(lambda text: float(text == "7"))
        [mark] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert mark.threshold == 1.0
        assert [text for text, _ in mark.rejected] == ["The answer is 7"]
        [complete, steady, empty] = baseline.baseline_checks([mark])
        assert (complete.ok, steady.ok, empty.ok) == (False, True, True)

    def test_where_right_ones_are_only_spared_a_penalty_that_is_the_threshold(self) -> None:
        other = AuditProblem("q", "What is 4 + 4?", "8", ("8",))
        subject = Fake(lambda text: 0.0 if "7" in text else -1.0, problems=[PROBLEM, other])
        [mark, unknown] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert (mark.threshold, mark.null, mark.rejected) == (0.0, -1.0, ())
        assert unknown.threshold is None  # its right completion gets less than a wrong one
        assert baseline.baseline_checks([mark])[-1].ok

    def test_an_empty_completion_that_is_spared_too_is_told(self) -> None:
        other = AuditProblem("q", "What is 4 + 4?", "8", ("8",))
        subject = Fake(lambda text: -1.0 if "8" in text else 0.0, problems=[PROBLEM, other])
        mark = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)[0]
        assert (mark.threshold, mark.null) == (0.0, 0.0)
        assert not baseline.baseline_checks([mark])[-1].ok

    def test_the_same_penalty_for_all_is_no_reward(self) -> None:
        other = AuditProblem("q", "What is 4 + 4?", "8", ("8",))
        subject = Fake(lambda text: -1.0, problems=[PROBLEM, other])
        marks = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert [mark.threshold for mark in marks] == [None, None]

    def test_a_verifier_that_scores_by_turns_is_not_steady(self) -> None:
        turns = iter(range(100))
        subject = Fake(lambda text: float(next(turns) % 2 == 0))
        [mark] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert mark.unsteady

    @pytest.mark.parametrize(("late", "steady"), [({6}, True), ({6, 10}, False)])
    def test_a_score_that_a_host_held_up_once_does_not_make_a_verifier_unsteady(
        self, late: set[int], steady: bool
    ) -> None:
        @dataclass
        class Late(Fake):
            """Is late for these of all its scores."""

            def score(self, queries: Sequence[Query]) -> list[Score]:
                before = len(self.asked)
                return [
                    Score(None, "timeout") if at in late else score
                    for at, score in enumerate(super().score(queries), start=before)
                ]

        subject = Late(contains)
        [mark] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert len(subject.asked) == 11
        assert (mark.unsteady == "") is steady

    @pytest.mark.parametrize("value", [None, math.nan])
    def test_without_any_score_nothing_can_pass(self, value: float | None) -> None:
        subject = Fake(lambda text: value)
        [mark] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert mark.threshold is None

    def test_a_constant_verifier_has_a_threshold_that_everything_passes(self) -> None:
        subject = Fake(lambda text: 1.0)
        [mark] = baseline.measure_baselines(ScoreJournal(subject, None), subject.problems)
        assert mark.threshold == 1.0
        assert mark.null == 1.0


class TestProver:
    def run(self, subject: Fake, *attacks: Attack, calls: int = 1000) -> tuple[Prover, str]:
        prover = prover_of(subject, calls=calls)
        marks = baseline.measure_baselines(prover.journal, subject.problems)
        targets = [(mark, Knowledge(mark.problem)) for mark in marks]
        return prover, prover.attack("test", attacks, targets)

    def test_what_passes_and_is_wrong_is_a_proof(self) -> None:
        hedge = Payload("7 or 8", Claim.EVERY_ANSWER, ("7", "8"))
        prover, why = self.run(Fake(contains), attack(hedge))
        assert why == ""
        [proof] = prover.proofs
        assert (proof.payload, proof.score, proof.evidence.kind) == (hedge, 1.0, "every_answer")
        [record] = prover.tried
        assert (record.completions, record.rewarded, record.proven) == (1, 1, 1)

    def test_what_passes_and_is_right_is_none(self) -> None:
        right = Payload("it is 7", Claim.OTHER_ANSWER, ("7",))
        prover, _ = self.run(Fake(contains), attack(right))
        assert prover.proofs == []
        assert [payload for _, payload, _ in prover.unproven] == [right]

    def test_what_is_wrong_and_does_not_pass_is_none(self) -> None:
        prover, _ = self.run(Fake(contains), attack(Payload("8", Claim.OTHER_ANSWER, ("8",))))
        assert (prover.proofs, prover.unproven) == ([], [])

    def test_the_budget_ends_it_and_each_attack_had_a_turn(self) -> None:
        many = [Payload(f"{n} is it", Claim.OTHER_ANSWER, (str(n),)) for n in range(100, 200)]
        prover, why = self.run(
            Fake(contains),
            attack(*many),
            attack(Payload("", Claim.NO_ANSWER), name="c/d"),
            calls=64,
        )
        assert "call budget" in why
        assert {record.attack for record in prover.tried} == {"a/b", "c/d"}

    def test_what_the_budget_cut_off_can_resume(self) -> None:
        many = [Payload(f"{n} is it", Claim.OTHER_ANSWER, (str(n),)) for n in range(100, 200)]
        prover, why = self.run(Fake(lambda text: float("100" not in text)), attack(*many), calls=64)
        assert why
        assert prover.waiting("test") == 36
        prover.budget = Budget(1000, NEVER)
        assert prover.resume("test") == ""
        assert prover.waiting("test") == 0
        assert sum(record.completions for record in prover.tried) == 100

    def test_an_attack_that_has_shown_enough_is_not_tried_again(self) -> None:
        rows = [AuditProblem(f"p{n}", "What is 3 + 4?", "7", ("7",)) for n in range(9)]
        subject = Fake(contains, problems=rows)
        hedges = [Payload(f"7 or {n}", Claim.EVERY_ANSWER, ("7", str(n))) for n in range(20, 60)]
        prover, _ = self.run(subject, attack(*hedges), calls=100_000)
        [record] = prover.tried
        assert 3 <= record.proven <= 18
        assert record.completions <= 64

    def test_where_one_hack_is_enough_it_ends_with_it(self) -> None:
        subject = Fake(contains)
        prover, _ = self.run(subject, attack(Payload("7 or 8", Claim.EVERY_ANSWER, ("7", "8"))))
        [proof] = prover.proofs
        prover.first_only = True
        assert prover.over == ""
        expected_reward = ExpectedReward(
            1.0, 0.0, 1.0, rewarded=2, problems=2, left_out=0, p_value=0.0025
        )
        prover.proofs.append(replace(proof, expected_reward=expected_reward))
        [mark] = baseline.measure_baselines(prover.journal, subject.problems)
        many = [Payload(f"7 or {n}", Claim.EVERY_ANSWER, ("7", str(n))) for n in range(20, 220)]
        why = prover.attack("test", [attack(*many)], [(mark, Knowledge(PROBLEM))])
        assert "proven" in why
        assert sum(record.completions for record in prover.tried) == 1

    def test_a_shortened_witness_must_still_be_wrong(self) -> None:
        hedge = Payload("maybe 7 or 8", Claim.EVERY_ANSWER, ("7", "8"))
        prover, _ = self.run(Fake(contains), attack(hedge))
        [proof] = prover.proofs
        assert still_wrong(prover.oracle, proof, "7 8") is not None
        assert still_wrong(prover.oracle, proof, "7") is None

    def test_what_leads_away_from_the_right_answer_stays(self) -> None:
        turned = Payload("First I thought: 7. No, the answer is 8", Claim.OTHER_ANSWER, ("8",))
        prover, _ = self.run(Fake(contains), attack(turned))
        [proof] = prover.proofs
        assert still_wrong(prover.oracle, proof, "7. No, the answer is 8") is not None
        assert still_wrong(prover.oracle, proof, "7 8") is None
        assert still_wrong(prover.oracle, proof, "8") is not None


def kept(subject: Fake, folder: Path, *texts: str) -> list[Score]:
    """The scores of an audit that ends with them."""
    with ScoreJournal(subject, folder) as journal:
        return journal.score([Query(PROBLEM, text) for text in texts])


class TestScoreJournal:
    def test_an_interrupted_audit_asks_only_what_is_new(self, tmp_path: Path) -> None:
        second = Fake(contains)
        before = kept(Fake(contains), tmp_path, "7", "8")
        with ScoreJournal(second, tmp_path) as journal:
            after = journal.score([Query(PROBLEM, text) for text in ("7", "8", "7")])
        assert after[:2] == before
        assert second.asked == ["7"]
        assert (journal.calls, journal.passed_on) == (1, 2)

    def test_a_line_that_was_cut_off_is_dropped(self, tmp_path: Path) -> None:
        kept(Fake(contains), tmp_path, "7", "8")
        path = tmp_path / "calls.jsonl"
        path.write_bytes(path.read_bytes()[:-9])
        again = Fake(contains)
        kept(again, tmp_path, "7", "8")
        assert again.asked == ["8"]
        assert len(path.read_bytes().splitlines()) == 2

    @pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, 0.25])
    def test_every_kind_of_score_survives(self, tmp_path: Path, value: float | None) -> None:
        kept(Fake(lambda _: value), tmp_path, "x")
        [found] = kept(Fake(contains), tmp_path, "x")
        assert repr(found.value) == repr(value)

    def test_the_folder_of_another_subject_is_refused(self, tmp_path: Path) -> None:
        kept(Fake(contains), tmp_path)
        with pytest.raises(UsageError, match="another folder"):
            kept(Fake(contains, fingerprint="other"), tmp_path)
        kept(Fake(contains), tmp_path, "7")

    def test_a_second_audit_in_one_folder_is_refused(self, tmp_path: Path) -> None:
        with (
            ScoreJournal(Fake(contains), tmp_path),
            pytest.raises(StoreError, match="another process"),
        ):
            ScoreJournal(Fake(contains), tmp_path)

    def test_a_folder_from_before_formats_were_marked_is_read(self, tmp_path: Path) -> None:
        calls = kept(Fake(contains), tmp_path, "7", "8")
        (tmp_path / "format.json").unlink()
        again = Fake(contains)
        assert kept(again, tmp_path, "7", "8") == calls
        assert again.asked == []
