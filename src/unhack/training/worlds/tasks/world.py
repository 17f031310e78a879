"""`TaskWorld`: prompts and rewards from a user's tasks, reward function or environment.

The reward is the verifier's. There is no oracle: what is right and what is a hack nobody tells, so
`Judged.solved` and `Judged.hacked` are None, and records lack those columns. A weak detector, a
function of the completion that is called as sealed as a reward, labels rollouts where the settings
name one.

Covered: draws are functions of (seed, step) and pass over all training problems before any comes
again; from 20 problems on a fifth is held out for evaluation, fewer serve for both; a prompt above
the cap is an error; rewards are remembered in a file by verifier, problem and completion.
Not covered: rewards that differ from call to call (the first one is kept); loopholes with names:
every prompt is `gt_only`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unhack.core.errors import UsageError
from unhack.core.hashing import content_hash
from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.cache import RecordCache
from unhack.training.worlds.modes import draw_endless, held_out_place
from unhack.training.worlds.pair_rows import read_pair_rows
from unhack.training.worlds.tasks.sources import ProblemSource
from unhack.training.worlds.texts import TextCodec, render_prompt
from unhack.training.worlds.world import Judged, Pair, PairKind, Prompt

_MIN_TO_HOLD_OUT, _HELD_OUT_SHARE = 20, 0.2
_MONITOR, _FINAL = 16, 64
"""Least prompts of the evaluation sets; problems come again where there are fewer."""


class TaskWorld:
    """Satisfies `unhack.training.worlds.world.World`.

    Example:

        world = make_world(Settings(world=WorldSettings(name="strings")), Path("out/strings"))
        judged = world.judge(world.draw(4, seed=0, step=1), completions)
        judged[0].reward
    """

    modes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    def __init__(
        self,
        settings: WorldSettings,
        *,
        source: ProblemSource,
        text: TextCodec,
        folder: Path,
        detector: ProblemSource | None = None,
    ) -> None:
        """`folder` holds the run's own cache where the settings name none. Raises UsageError for a
        prompt above the cap."""
        self._settings, self._source, self.name = settings, source, source.name
        self.vocabulary, self.pad, self.stop = text.vocabulary, text.pad, text.stop
        self.encode, self.decode, self._text = text.encode, text.decode, text
        self.max_new = settings.completion_tokens
        self._detector = detector
        self._cache = RecordCache(Path(settings.cache or folder / "verdicts.sqlite"))
        self._prompts = {
            problem: self._prompt(problem, known.prompt)
            for problem, known in source.problems.items()
        }
        self._train, self._test = _parts(list(self._prompts))

    def draw(self, count: int, *, seed: int, step: int) -> list[Prompt]:
        """Training prompts of a step."""
        order = f"unhack tasks order {seed}"
        drawn = [draw_endless(self._train, step * count + at, order=order) for at in range(count)]
        return [self._prompts[problem] for problem in drawn]

    def monitor(self) -> list[Prompt]:
        """A quarter of the problems for evaluation, 16 prompts at least."""
        part = self._test[: -(-len(self._test) // 4)]
        return self._repeated(part, _MONITOR)

    def final(self) -> list[Prompt]:
        """All problems for evaluation, 64 prompts at least."""
        return self._repeated(self._test, _FINAL)

    def judge(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Judged]:
        """Judge in order. Raises BatchUnscoredError when the machinery broke."""
        answered = [(one.problem, text) for one, text in zip(prompts, completions, strict=True)]
        rewards = self._remembered(self._source, answered)
        labels: list[bool | None] = [None] * len(answered)
        if self._detector is not None:
            labels = [value > 0 for value in self._remembered(self._detector, answered)]
        return [
            Judged(reward=reward, detected=label)
            for reward, label in zip(rewards, labels, strict=True)
        ]

    def pairs(self, kind: PairKind, *, count: int, seed: int) -> list[Pair]:
        """At most `count` pairs of each flaw, from the file of `unhack audit --pairs`, in random
        order. Raises UsageError without that file, and for kinds that only made-up worlds have."""
        if kind not in ("real", "audit"):
            raise UsageError(f"a world of tasks has no pairs of kind {kind}: set world.pairs=audit")
        if not self._settings.pairs_path:
            raise UsageError(
                "routing needs pairs of hacks and honest completions: make them with `unhack audit "
                f"{self.name} --pairs pairs.jsonl` and set world.pairs_path=pairs.jsonl, or train "
                "without routing with --arm vanilla"
            )
        rows = read_pair_rows(Path(self._settings.pairs_path))
        random.Random(f"unhack tasks pairs {seed}").shuffle(rows)
        left: dict[str, int] = {}
        found: list[Pair] = []
        for row in rows:
            flaw = str(row.get("flaw") or "hack")
            if left.setdefault(flaw, count):
                left[flaw] -= 1
                found.append(self._pair(row, flaw))
        return found

    def _prompt(self, problem: str, said: str) -> Prompt:
        messages, limit = [{"role": "user", "content": said}], self._settings.prompt_tokens
        return render_prompt(self._text, messages, problem=problem, limit=limit)

    def _pair(self, row: dict[str, Any], flaw: str) -> Pair:
        problem = str(row.get("problem", ""))
        prompt = self._prompts.get(problem) or self._prompt(problem, row["prompt"])
        hack, clean = ((*self.encode(row[side]), self.stop) for side in ("hack", "clean"))
        return Pair(prompt, hack, clean, flaw)

    def _repeated(self, problems: Sequence[str], least: int) -> list[Prompt]:
        times = -(-least // len(problems)) if len(problems) < least else 1
        return [self._prompts[problem] for problem in problems for _ in range(times)]

    def _remembered(
        self, source: ProblemSource, answered: Sequence[tuple[str, str]]
    ) -> list[float]:
        marks = {problem: source.fingerprint(problem) for problem, _ in answered}
        keyed = [
            (content_hash("tasks", marks[problem], text), (problem, text))
            for problem, text in answered
        ]
        return self._cache.find_or_judge(keyed, source.score)


def _parts(problems: list[str]) -> tuple[list[str], list[str]]:
    """Problems to train on and to evaluate on; the same ones where there are few."""
    if len(problems) < _MIN_TO_HOLD_OUT:
        return problems, problems
    order = sorted(problems, key=held_out_place)
    cut = round(_HELD_OUT_SHARE * len(order))
    held = set(order[:cut])
    return [problem for problem in problems if problem not in held], order[:cut]
