"""Tier 5 refuses by name what it cannot take, before anything runs; Ctrl-C keeps what it found."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("torch")

from unhack.audit.options import AuditOptions
from unhack.audit.runner import audit
from unhack.audit.subject import Subject
from unhack.audit.subjects.loading import load_subject
from unhack.core.errors import UsageError
from unhack.training.discovery.explore import Reinforcement
from unhack.training.discovery.interrupts import interrupts

pytestmark = pytest.mark.slow

FORM = "def score(completion):\n    return float('<think>' in completion)\n"
ANSWERS = "def score(completion, answer):\n    return float(completion.strip() == answer)\n"


def subject_of(folder: Path, source: str, *rows: dict[str, object]) -> Subject:
    (folder / "reward.py").write_text(source)
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_subject(f"{folder / 'reward.py'}:score", problems=path)


def options(*tiers: int) -> AuditOptions:
    return AuditOptions(tiers=tiers, calls=40, seconds=300.0, discoverer=Reinforcement(updates=1))


class TestRefusals:
    def test_a_reward_of_form_is_refused_before_anything_runs(self, tmp_path: Path) -> None:
        subject = subject_of(tmp_path, FORM, {"prompt": "Think.", "correct": ["<think></think>"]})
        with pytest.raises(UsageError, match="tier 5 cannot take it: the verifier is not given"):
            audit(subject, options=options(5))

    def test_free_text_without_an_oracle_is_refused(self, tmp_path: Path) -> None:
        row = {"prompt": "Write a poem.", "correct": ["roses"], "style": "free"}
        source = "def score(completion, style):\n    return float(len(completion) > 3)\n"
        subject = subject_of(tmp_path, source, row)
        reason = Reinforcement().refusal(subject, judged=False)
        assert "is not given the answer" in reason or "give an --oracle" in reason

    def test_beside_other_tiers_the_reason_stands_in_the_report(self, tmp_path: Path) -> None:
        subject = subject_of(tmp_path, FORM, {"prompt": "Think.", "correct": ["<think></think>"]})
        report = audit(subject, options=options(1, 5))
        assert "not given the answer" in dict(report.skipped)[5]
        assert report.tiers == (1,)

    def test_what_it_can_take_is_not_refused(self, tmp_path: Path) -> None:
        subject = subject_of(tmp_path, ANSWERS, {"prompt": "1 + 1?", "answer": "2"})
        assert Reinforcement().refusal(subject, judged=False) == ""


class TestInterrupts:
    def test_the_first_one_is_noted_and_the_second_ends_all(self) -> None:
        with interrupts() as interrupted:
            assert not interrupted()
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupted()
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)

    def test_afterwards_an_interrupt_is_one_again(self) -> None:
        before = signal.getsignal(signal.SIGINT)
        with interrupts():
            assert signal.getsignal(signal.SIGINT) is not before
        assert signal.getsignal(signal.SIGINT) is before

    @pytest.mark.slow
    def test_a_training_that_is_interrupted_still_proves_what_it_found(
        self, tmp_path: Path
    ) -> None:
        source = "def score(completion, answer):\n    return float('because' in completion)\n"
        rows = [{"prompt": f"{at} + 1?", "answer": f"{at + 1}", "correct": [f"because {at + 1}"]}
                for at in range(8)]  # fmt: skip
        subject = subject_of(tmp_path, source, *rows)
        seen: list[int] = []

        def stop(progress: object) -> None:
            point = getattr(progress, "point", None)
            if point is not None and point.wrong > 0 and not seen:
                seen.append(point.step)
                os.kill(os.getpid(), signal.SIGINT)

        report = audit(
            subject,
            options=AuditOptions(
                tiers=(5,), calls=1500, seconds=1200.0, discoverer=Reinforcement(updates=40)
            ),
            on_progress=stop,
        )
        assert seen
        assert report.discovery is not None
        assert report.discovery.interrupted
        assert len(report.discovery.curve) == seen[0] + 1
        assert report.findings
