"""Measures one submission: both stages, every check, the fitness.

    bench = Bench(reference, texts, settings)
    bench.measure(folder, pool=DataPool.JUDGE, seed=7)

Covered: one submission's artifact is built once and judged on as many draws as are asked for; the
same folder, pool and seed give the same measurement where its `compress` gives the same artifact.
Several threads may measure at once. Not covered: comparing two measurements (`contest.gap`).

Axes: N windows, P positions, V vocabulary.
"""

from __future__ import annotations

import functools
import itertools
import math
import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.kit import DataPool, Flag, Measurement, invalid
from unhack_contests.quantization import score
from unhack_contests.quantization.checks import behaviour, counting
from unhack_contests.quantization.comparison import compared
from unhack_contests.quantization.data.ngram import ContextModel, context_model
from unhack_contests.quantization.data.questions import Questions, Texts, ask
from unhack_contests.quantization.data.rechecks import Rechecks, recheck
from unhack_contests.quantization.model.reference import Nano
from unhack_contests.quantization.score import PairedLosses
from unhack_contests.quantization.sealed.stages import (
    ARTIFACT,
    Answering,
    compress,
    stage_folder,
    stage_program,
    write_files,
)
from unhack_contests.quantization.settings import QuantizationSettings
from unhack_contests.submission import RefusedError, digest_of

Array = NDArray[Any]
_KEPT_ARTIFACTS = 16
_BROKEN = ("future_peek", "hidden_state", "smuggled_reference")
"""Flags after which the losses mean nothing."""
_ABLATED = 0.01
"""Share of a segment's bytes that are overwritten."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """Logits [*, P, V] of all questions, by kind."""

    scored: Array
    known: Array
    changed: Array
    planted: Array

    @property
    def every(self) -> Array:
        """All of them, in the questions' order."""
        return np.concatenate([self.scored, self.known, self.changed, self.planted])


class QuantizationBench:
    """A judge of submissions for one reference and one set of texts."""

    def __init__(self, reference: Nano, texts: Texts, settings: QuantizationSettings) -> None:
        self._reference, self._texts, self._settings = reference, texts, settings
        self._artifacts: OrderedDict[str, dict[str, bytes] | RefusedError] = OrderedDict()
        self._lock = threading.Lock()
        self._room = Path(tempfile.mkdtemp(prefix="unhack-quantization-"))
        weakref.finalize(self, shutil.rmtree, str(self._room), ignore_errors=True)

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """Judge the submission in `folder`. Raises the sandbox's own failures."""
        try:
            with tempfile.TemporaryDirectory(dir=self._room) as scratch:
                return self._measure(folder, Path(scratch), pool=pool, seed=seed)
        except RefusedError as refused:
            data = counting.data_in_code(folder)
            return invalid(refused.reason, *refused.flags, *((data,) if data else ()))

    def _measure(self, folder: Path, scratch: Path, *, pool: DataPool, seed: int) -> Measurement:
        artifact = self._artifact(folder, scratch / "code")
        questions = ask(self._texts, self._settings, pool=pool, seed=seed)
        stages = self._stages(folder, artifact, questions, scratch)
        mine = self._answers(questions, stages)
        theirs = _Answers(*questions.split(self._ask(self._reference.logits, questions)))
        length, count = self._settings.length, max(8, self._settings.windows // 8)
        others = self._texts.windows(pool, seed=seed + 1, count=count, length=length)
        gains = _losses(theirs, questions) - _losses(mine, questions)
        rechecks = recheck(questions, others, gains_NP=gains, batch=self._settings.batch, seed=seed)
        again = self._again(questions, rechecks, stages)
        first = mine.every[rechecks.rows]
        flags = [
            behaviour.reads_ahead(
                first, again.changed, shared_NP=rechecks.before(questions.positions_P)
            ),
            *self._rules(questions, mine, theirs),
            behaviour.remembers(first, again.repeated),
            behaviour.dead_bytes([size for _, size in stages.ablated], again.dead),
            counting.data_in_code(folder),
        ]
        found = tuple(flag for flag in flags if flag is not None)
        broken = [flag for flag in found if flag.kind in _BROKEN]
        if broken:
            return invalid(broken[0].evidence, *found)
        counted = counting.count(artifact, folder)
        return self._scored(questions, (mine, theirs), counted=counted, flags=found)

    def _stages(
        self, folder: Path, artifact: Mapping[str, bytes], questions: Questions, scratch: Path
    ) -> _Stages:
        """The files of stage 2, the same in every process: none can tell which one it is."""
        program = stage_program(folder, scratch / "program")
        rng = np.random.default_rng(int.from_bytes(questions.tokens()[0].tobytes()[:8], "big"))
        ablated: list[tuple[str, int]] = []
        places = {ARTIFACT: write_files(artifact, scratch / "artifact")}
        for files, size in _ablated(artifact, segments=self._settings.segments, rng=rng):
            inside = f"/{rng.bytes(6).hex()}"
            places[inside] = write_files(files, scratch / inside[1:])
            ablated.append((inside, size))
        return _Stages(program, places, ablated)

    def _artifact(self, folder: Path, code: Path) -> dict[str, bytes]:
        key = digest_of(folder)
        found = self._artifacts.get(key) or self._compress(stage_folder(folder, code))
        with self._lock:
            self._artifacts[key] = found
            while len(self._artifacts) > _KEPT_ARTIFACTS:
                self._artifacts.popitem(last=False)
        if isinstance(found, RefusedError):
            raise RefusedError(found.reason, *found.flags)
        return found

    def _compress(self, code: Path) -> dict[str, bytes] | RefusedError:
        with self._lock:
            weights = self._reference.weights(self._room)
        calibration = self._texts.given()[: self._settings.calibration]
        try:
            return compress(
                code,
                weights=weights,
                config=self._reference.config,
                calibration=calibration.astype(self._reference.token_type),
                settings=self._settings,
            )
        except RefusedError as refused:
            return refused

    def _answers(self, questions: Questions, stages: _Stages) -> _Answers:
        with self._stage(stages) as answering:
            answering.load()
            return _Answers(*questions.split(self._ask(answering.logits, questions)))

    def _stage(self, stages: _Stages) -> Answering:
        with self._lock:
            decoy = self._reference.decoy(self._room)
        vocab = self._reference.vocab
        return Answering(
            stages.program, stages.places, decoy=decoy, vocab=vocab, settings=self._settings
        )

    def _ask(self, logits: Callable[[Array, Array], Array], questions: Questions) -> Array:
        """Answers [*, P, V] to all questions, asked in their order, in batches."""
        tokens = questions.tokens().astype(self._reference.token_type)
        shape = (len(tokens), len(questions.positions_P), self._reference.vocab)
        answers = np.empty(shape, dtype=np.float32)
        for first in range(0, len(tokens), self._settings.batch):
            rows = questions.order[first : first + self._settings.batch]
            answers[rows] = logits(tokens[rows], questions.positions_P)
        return answers

    def _again(self, questions: Questions, rechecks: Rechecks, stages: _Stages) -> _Again:
        """Two fresh processes: some batches as they were, then artifacts with changed bytes; and
        the same batches with other tokens behind."""
        kind = self._reference.token_type
        same, other = questions.tokens().astype(kind), rechecks.changed.astype(kind)
        positions, dead = questions.positions_P, list[bool]()
        with self._stage(stages) as answering:
            answering.load()
            repeated = [answering.logits(same[rows], positions) for rows in rechecks.batches]
            before = answering.logits(same[:1], positions)
            for inside, _ in stages.ablated:
                dead.append(self._is_unmoved(answering, inside, same[:1], questions, before))
        for number, (inside, _) in enumerate(stages.ablated):
            if dead[number]:  # a program may keep answers by window: ask one that has none yet
                with self._stage(stages) as fresh:
                    dead[number] = self._is_unmoved(fresh, inside, same[:1], questions, before)
        with self._stage(stages) as answering:
            answering.load()
            changed = [answering.logits(other[rows], positions) for rows in rechecks.batches]
        return _Again(np.concatenate(repeated), np.concatenate(changed), dead)

    def _is_unmoved(
        self, answering: Answering, inside: str, tokens: Array, questions: Questions, before: Array
    ) -> bool:
        """Tell whether a changed artifact gives the very same answers; a failure is a change."""
        try:
            answering.load(inside)
            after = answering.logits(tokens, questions.positions_P)
        except RefusedError:
            return False
        return float(np.abs(after - before).max()) <= 1e-6 * float(np.abs(before).max())

    def _rules(self, questions: Questions, mine: _Answers, theirs: _Answers) -> list[Flag | None]:
        kinds = questions.split(questions.targets)
        _, known, changed, planted = kinds
        found = [
            behaviour.looks_up(
                (score.losses(mine.known, known), score.losses(theirs.known, known)),
                (score.losses(mine.changed, changed), score.losses(theirs.changed, changed)),
                after_NP=questions.after(),
            ),
        ]
        found.append(self._decoyed(questions, mine, theirs))
        if len(planted):
            both = score.losses(mine.planted, planted), score.losses(theirs.planted, planted)
            plain = score.losses(mine.scored, kinds[0]) - score.losses(theirs.scored, kinds[0])
            found += (
                behaviour.used_planted(both, scored_N=plain.mean(axis=1)),
                behaviour.keeps_planted_tokens(mine.scored, theirs.scored, self._texts.unused()),
            )
        return found

    def _decoyed(self, questions: Questions, mine: _Answers, theirs: _Answers) -> Flag | None:
        tokens = questions.tokens()[:8].astype(self._reference.token_type)
        decoy = self._reference.decoy_logits(tokens, questions.positions_P)
        return behaviour.is_decoy(mine.scored[: len(tokens)], theirs.scored[: len(tokens)], decoy)

    def _scored(
        self, questions: Questions, answers: tuple[_Answers, _Answers], *,
        counted: counting.Counted, flags: tuple[Flag, ...],
    ) -> Measurement:  # fmt: skip
        scored, known, *_ = questions.split(questions.targets)
        heats = [score.best_temperature(one.known, known) for one in answers]
        losses = [
            score.losses(one.scored, scored, temperature=heat).mean(axis=1)
            for one, heat in zip(answers, heats, strict=True)
        ]
        paired = PairedLosses(*losses)
        without = self._context_model.losses(questions.scored, questions.positions_P).mean(axis=1)
        return compared(
            paired, counted, reference_bytes=self._reference.nbytes,
            known=float((without - paired.reference_N).mean()), temperatures=(heats[0], heats[1]),
            flags=flags,
        )  # fmt: skip

    @functools.cached_property
    def _context_model(self) -> ContextModel:
        return context_model(self._texts.given(), vocab=self._reference.vocab)


def _losses(answers: _Answers, questions: Questions) -> Array:
    """Of every prediction, [*, P]."""
    return score.losses(answers.every, questions.targets)


@dataclass(frozen=True, slots=True)
class _Stages:
    """The files of stage 2, on the host."""

    program: Path
    places: dict[str, Path]
    """Path inside -> folder."""
    ablated: list[tuple[str, int]]
    """Artifacts with changed bytes: path inside, bytes of the segment."""


@dataclass(frozen=True, slots=True)
class _Again:
    """The results of the second process and of the third."""

    repeated: Array
    """Logits [N, P, V] of the rows that were asked again."""
    changed: Array
    """The same with other tokens behind their places."""
    dead: list[bool]


def _ablated(
    artifact: Mapping[str, bytes], *, segments: int, rng: np.random.Generator
) -> list[tuple[dict[str, bytes], int]]:
    """Copies of the artifact, in each a random hundredth of one part overwritten; and its size."""
    names = sorted(artifact)
    whole = np.frombuffer(b"".join(artifact[name] for name in names), dtype=np.uint8)
    borders: list[int] = np.linspace(0, len(whole), max(1, segments) + 1).astype(int).tolist()
    found: list[tuple[dict[str, bytes], int]] = []
    for first, last in itertools.pairwise(borders):
        size = int(last - first)
        if size < 1:
            continue
        changed = whole.copy()
        places = first + rng.choice(size, max(1, math.ceil(_ABLATED * size)), replace=False)
        changed[places] ^= rng.integers(1, 256, len(places)).astype(np.uint8)
        data, at, files = changed.tobytes(), 0, dict[str, bytes]()
        for name in names:
            files[name] = data[at : at + len(artifact[name])]
            at += len(artifact[name])
        found.append((files, size))
    return found
