"""Measures one submission: both stages, then the model with the weights that came back.

    bench = TensorBench(model, texts, settings, card=None)
    bench.measure(folder, pool=DataPool.JUDGE, seed=7)

Covered: a submission's stages run once, and their weights are judged on as many draws as are asked
for; windows are drawn after both stages have ended. The same folder, pool and seed give the same
measurement where its stages give the same bytes. Several threads may measure at once.
Not covered: comparing two measurements (`contest.gap`).

Axes: N windows, T tokens.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.sandbox.gpu.card_queue import CardQueue
from unhack.sandbox.gpu.cards import Card
from unhack.tournament.kit import DataPool, Flag, Measurement, invalid
from unhack_contests.quantization.checks import behaviour, counting
from unhack_contests.quantization.comparison import compared
from unhack_contests.quantization.data.ngram import ContextModel, context_model
from unhack_contests.quantization.data.questions import Texts
from unhack_contests.quantization.score import PairedLosses
from unhack_contests.quantization.sealed.stages import forged
from unhack_contests.quantization.tensors import stages
from unhack_contests.quantization.tensors.model import ReferenceModel
from unhack_contests.quantization.tensors.settings import TensorSettings
from unhack_contests.quantization.tensors.text import calibration_tokens
from unhack_contests.submission import RefusedError, digest_of, files_of

Array = NDArray[Any]
_KEPT_BYTES = 2 << 30
"""Of weights that came back, kept for the next draw."""
_KNOWN = 16
"""Windows of the calibration text on which each model's temperature is chosen."""
_PLANTED = 24
_QUEUE_S = 3600.0
_DIGITS = 6
"""Significant digits of a loss: another order of sums changes those behind."""


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome of both stages."""

    artifact: Mapping[str, bytes]
    weights: Mapping[str, Array]
    temperature: float
    """The one that suits them best."""

    @property
    def held_bytes(self) -> int:
        return sum(item.nbytes for item in self.weights.values())


class TensorBench:
    """A judge of submissions for one model and one source of text."""

    def __init__(
        self, model: ReferenceModel, texts: Texts, settings: TensorSettings, *, card: Card | None
    ) -> None:
        self._model, self._texts, self._settings, self._card = model, texts, settings, card
        self._built: OrderedDict[str, Built | RefusedError] = OrderedDict()
        self._lock = threading.Lock()
        self._heat: float | None = None

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """Judge the submission in `folder`. Raises the sandbox's own failures."""
        data = counting.data_in_code(folder)
        flags = (data,) if data else ()
        try:
            built = self._build(folder)
            with self._turn():
                # Only now: no process of the submission lives that could be told of the windows.
                return self._scored(folder, built, pool=pool, seed=seed, flags=flags)
        except RefusedError as refused:
            return invalid(refused.reason, *refused.flags, *flags)

    @contextlib.contextmanager
    def _turn(self) -> Generator[None]:
        """The card, where there is one: for one submission at a time. Stage 2 needs none."""
        if self._card is None:
            yield
            return
        with CardQueue(self._card.key).turn(timeout_s=_QUEUE_S):
            yield

    def _build(self, folder: Path) -> Built:
        key = digest_of(folder)
        found = self._built.get(key)
        if found is None:
            found = self._run_stages(folder)
            self._keep(key, found)
        if isinstance(found, RefusedError):
            raise RefusedError(found.reason, *found.flags)
        return found

    def _run_stages(self, folder: Path) -> Built | RefusedError:
        model, settings, calibration = self._model, self._settings, self._calibration
        try:
            with self._turn():
                artifact = stages.compress(
                    files_of(folder), model, calibration, settings=settings, card=self._card
                )
            with tempfile.TemporaryDirectory(prefix="unhack-stage-") as scratch:
                weights = stages.decompress(
                    folder, artifact, model, calibration=calibration, scratch=Path(scratch),
                    settings=settings,
                )  # fmt: skip
        except RefusedError as refused:
            return refused
        with self._turn(), model.turn():
            heat = model.temperature(self._known(), weights)
        return Built(artifact, weights, heat)

    def _keep(self, key: str, found: Built | RefusedError) -> None:
        with self._lock:
            self._built[key] = found
            held = {
                name: one.held_bytes if isinstance(one, Built) else 0
                for name, one in self._built.items()
            }
            while len(self._built) > 1 and sum(held.values()) > _KEPT_BYTES:
                gone, _ = self._built.popitem(last=False)
                held.pop(gone)

    def _scored(
        self, folder: Path, built: Built, *, pool: DataPool, seed: int, flags: tuple[Flag, ...]
    ) -> Measurement:
        settings, model = self._settings, self._model
        count, length = settings.windows, settings.length
        windows = self._texts.windows(pool, seed=seed, count=count, length=length)
        with model.turn():
            heats = built.temperature, self._own_temperature()
            mine, theirs = (
                rounded(model.losses(windows, weights, temperature=heat).mean(axis=1))
                for weights, heat in zip((built.weights, None), heats, strict=True)
            )
            flags = (*flags, *self._planted(built, windows, seed=seed, plain=mine - theirs))
        paired = PairedLosses(mine, theirs)
        without = self._context_model.losses(windows, np.arange(length)).mean()
        return compared(
            paired, counting.count(built.artifact, folder), reference_bytes=model.nbytes,
            known=float(without - theirs.mean()), temperatures=heats, flags=flags,
        )  # fmt: skip

    def _known(self) -> Array:
        """Windows of text that every submission has: no model's scale is worth anything there."""
        length = self._settings.length
        return self._texts.crops(self._calibration, seed=0, count=_KNOWN, length=length)

    @property
    def _calibration(self) -> Array:
        return calibration_tokens(self._texts, most=self._settings.calibration)

    def _own_temperature(self) -> float:
        if self._heat is None:
            self._heat = self._model.temperature(self._known(), None)
        return self._heat

    def _planted(
        self, built: Built, windows: Array, *, seed: int, plain: Array
    ) -> tuple[Flag, ...]:
        """Signs that the honeypot's text was used, where there is one; `plain` [N]: differences."""
        planted = self._texts.planted()
        if planted is None:
            return ()
        length = self._settings.length
        rows = self._texts.crops(planted, seed=seed, count=_PLANTED, length=length)
        model = self._model
        both = model.losses(rows, built.weights), model.losses(rows, None)
        logits = model.logits(windows, built.weights), model.logits(windows, None)
        found = (
            behaviour.used_planted(both, scored_N=plain),
            behaviour.keeps_planted_tokens(*logits, self._texts.unused()),
        )
        return tuple(flag for flag in found if flag is not None)

    @functools.cached_property
    def _context_model(self) -> ContextModel:
        return context_model(self._texts.given(), vocab=self._model.vocab)


def rounded(losses: Array) -> Array:
    """To `_DIGITS` significant digits. Raises RefusedError for a loss that is no number: weights
    that overflow on the way would else compare with nothing."""
    if not np.isfinite(losses).all():
        raise forged("the model with these weights gives a loss that is no number")
    scale = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(losses) + 1e-300)))
    return np.round(losses * scale) / scale
