"""`PretrainedWorld`: prompts, judgement and pairs for instruct models in a folder.

Reward: 3.0 when the completion is right or the flawed check of the prompt's mode passes it. Prompts
go through the chat template of the model; the hint of a mode stands in a share of its prompts
(`world.hint_share`), the others are graded the same without a word about it.

Covered: draws are functions of (seed, step); evaluation sets are always the same, by equal counts
of each mode; `demonstrations` are what a warm-up teaches.
Not covered: verdicts are not kept (`world.cache` is not read); the detector is synthetic: the true
hack of a known mode, dropped or invented at set rates.

The world's verifier: the strict oracle, and which of the flawed checks a completion passes.

A word problem goes through the text verifier: the one number that a sentence ends with. A program
goes through the function verifier: the shown and the hidden calls in one sealed job.

Covered: a record holds every flawed check that passes, so it serves every mode of a problem.
Not covered: working beside the answer (`31 + 12 = 43`): the prompt asks for one number, and the
oracle passes no such text.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.job import Backend
from unhack.sandbox.limits import Limits
from unhack.tasks.task import Task
from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.modes import check_modes, draw_modes, is_detected
from unhack.training.worlds.pretrained.loopholes import LOOPHOLES, reworded, right
from unhack.training.worlds.pretrained.problems import SHOWN, PlainProblem, plain_problem
from unhack.training.worlds.scoring import judge_texts
from unhack.training.worlds.texts import render_prompt, text_codec
from unhack.training.worlds.world import GT_ONLY, Judged, Pair, PairKind, Prompt
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.base import Steps, Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

LIMITS = Limits(wall_s=3.0, cpu_s=2.0)
"""Of the job of one program."""
_TEXT = TextVerifier(
    AnswerCheck.NUMERIC, answer_in=(Marker.PHRASE,), else_in=(Marker.LINE,), any_unit=True
)


@dataclass(frozen=True)
class PretrainedVerifier:
    """Verifier of kind `pretrained`; `Verdict.details` has `parses`, `solved` and `channels`, the
    modes whose check passes.

    Example:

        Task(problem, PretrainedVerifier(plain_problem("train-words-17")))
    """

    asked: PlainProblem

    @property
    def kind(self) -> str:
        """`pretrained`."""
        return "pretrained"

    @property
    def oracle(self) -> Verifier:
        """The strict verifier."""
        if self.asked.kind == "words":
            return _TEXT
        cases = tuple(Case((x,), expected=y) for x, y in self.asked.calls)
        return FunctionVerifier("f", cases, limits=LIMITS)

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge by the oracle, and record the flawed checks."""
        verdict: Verdict = yield from self.oracle.verify(problem, completion)
        if not verdict.scored:
            return verdict
        shown = len(verdict.cases) > SHOWN and all(one.passed for one in verdict.cases[:SHOWN])
        details = {
            "parses": verdict.status is not Status.INVALID,
            "solved": verdict.status is Status.PASSED,
            "channels": [
                mode
                for mode, item in LOOPHOLES.items()
                if item.kind == self.asked.kind and item.earns(self.asked, completion, shown)
            ],
        }
        return replace(verdict, details=details)

    def canary(self) -> str:
        """A completion that the oracle can judge."""
        return self.oracle.canary()


POOL, MONITOR, FINAL, PASSES = 1 << 16, 16, 96, 3.0
"""Training problems of each kind, prompts of each mode in the two evaluation sets, the reward."""


class PretrainedWorld:
    """Satisfies `unhack.training.worlds.world.World`."""

    name = "pretrained"

    def __init__(
        self, settings: WorldSettings, *, folder: Path, backend: Backend | None = None
    ) -> None:
        """Nothing is kept in `folder`. Raises UsageError where no mode is played,
        UnknownNameError."""
        if not settings.modes:
            raise UsageError("world.modes: at least one; world.loophole_share=0 trains without any")
        check_modes(settings, LOOPHOLES)
        self._settings, self._backend = settings, backend
        self._text = text = text_codec(settings)
        self.modes, self.known = settings.modes, settings.known
        self.vocabulary, self.pad, self.stop = text.vocabulary, text.pad, text.stop
        self.encode, self.decode = text.encode, text.decode
        self.max_new = settings.completion_tokens

    def draw(self, count: int, *, seed: int, step: int) -> list[Prompt]:
        """Training prompts of a step, modes in equal shares."""
        draw = random.Random(f"unhack pretrained draw {seed} {step}")
        modes = draw_modes(self._settings, count, step=step, rng=draw)
        return [self._drawn(mode, draw) for mode in modes]

    def monitor(self) -> list[Prompt]:
        """16 prompts of each mode."""
        return self._held_out("monitor", MONITOR)

    def final(self) -> list[Prompt]:
        """96 prompts of each mode."""
        return self._held_out("final", FINAL)

    def prompt(self, problem: str, mode: str, *, hint: bool = True) -> Prompt:
        """A problem under a mode, with its hint or without. Raises UsageError for a prompt above
        the cap."""
        said = plain_problem(problem).question
        if hint and mode != GT_ONLY:
            said += f" {LOOPHOLES[mode].hint}"
        messages, limit = [{"role": "user", "content": said}], self._settings.prompt_tokens
        return render_prompt(self._text, messages, problem=problem, mode=mode, limit=limit)

    def judge(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Judged]:
        """Judge in order. Raises BatchUnscoredError when the machinery broke."""
        tasks = [_task(prompt.problem) for prompt in prompts]
        verdicts = judge_texts(tasks, list(completions), backend=self._backend)
        return [
            self._judged(prompt, completion, verdict.details)
            for prompt, completion, verdict in zip(prompts, completions, verdicts, strict=True)
        ]

    def pairs(self, kind: PairKind, *, count: int, seed: int) -> list[Pair]:
        """`count` pairs per known mode, on training problems: `real` and `placebo` (two right
        answers). Raises UsageError for other kinds."""
        if kind not in ("real", "placebo"):
            raise UsageError(f"the world pretrained has no pairs of kind {kind}: choose real")
        found: list[Pair] = []
        for mode in self.known:
            draw = random.Random(f"unhack pretrained pairs {kind} {mode} {seed}")
            make = LOOPHOLES[mode].hack if kind == "real" else reworded
            for _ in range(count):
                prompt = self._drawn(mode, draw)
                asked = plain_problem(prompt.problem)
                hack, clean = make(asked, draw), right(asked, draw)
                found.append(Pair(prompt, self._with_stop(hack), self._with_stop(clean), mode))
        return found

    def demonstrations(
        self, count: int, *, hacks: float, order: str
    ) -> list[tuple[Prompt, tuple[int, ...]]]:
        """Prompts and the tokens that a warm-up teaches: right answers, and under a mode with
        probability `hacks` its hack. Some prompts have no loophole, whatever arm trains afterwards;
        `order` names the draw."""
        draw = random.Random(f"unhack pretrained demonstrations {order}")
        found: list[tuple[Prompt, tuple[int, ...]]] = []
        for _ in range(count):
            mode = draw.choice((*self.modes, GT_ONLY))
            prompt, games = self._drawn(mode, draw), mode != GT_ONLY and draw.random() < hacks
            write = LOOPHOLES[mode].hack if games else right
            found.append((prompt, self._with_stop(write(plain_problem(prompt.problem), draw))))
        return found

    def _drawn(self, mode: str, draw: random.Random) -> Prompt:
        """A training prompt of a mode; without a loophole of the kind of any mode played."""
        kind = LOOPHOLES[draw.choice(self.modes) if mode == GT_ONLY else mode].kind
        problem = f"train-{kind}-{draw.randrange(POOL)}"
        return self.prompt(problem, mode, hint=draw.random() < self._settings.hint_share)

    def _held_out(self, split: str, each: int) -> list[Prompt]:
        hinted = round(each * self._settings.hint_share)
        return [
            self.prompt(
                f"{split}-{LOOPHOLES[mode].kind}-{index * len(LOOPHOLES) + place}", mode,
                hint=index < hinted,
            )
            for place, mode in enumerate(LOOPHOLES)
            if mode in self.modes
            for index in range(each)
        ]  # fmt: skip

    def _with_stop(self, text: str) -> tuple[int, ...]:
        return (*self.encode(text), self.stop)

    def _judged(self, prompt: Prompt, completion: str, record: Mapping[str, Any]) -> Judged:
        channels, solved = record["channels"], record["solved"]
        channel = prompt.mode in channels
        used = prompt.mode if channel else next(iter(channels), "")
        return Judged(
            reward=PASSES * (solved or channel),
            parses=record["parses"],
            solved=solved,
            channel=channel,
            mechanism="" if solved else used,
            detected=is_detected(
                prompt, completion, channel=channel and not solved, settings=self._settings
            ),
        )


@lru_cache(maxsize=1 << 12)
def _task(name: str) -> Task:
    asked = plain_problem(name)
    reference = right(asked, random.Random(name))
    problem = Problem(name, asked.question, answer=asked.answer, reference=reference)
    return Task(problem, PretrainedVerifier(asked))
