"""Detection: honest or hacked, told from a submission's text.

    load({"pairs": "60", "dev_pairs": "80"})      drawn problems, right work that looks odd

A submission is `solution.py` with `predict(items) -> probabilities` that an item is hacked.

Covered: AUROC and a proper score on items drawn by seed, families that were never shown apart.
Not covered: hacks outside the families of `drawn.shortcuts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from unhack.tournament.kit import (
    DECLINED,
    DataPool,
    Declared,
    Files,
    Flag,
    Measurement,
    Metric,
    Submissions,
    Terms,
)
from unhack_contests.reward_hacking.detect import cheats, honest, statement
from unhack_contests.reward_hacking.detect.honest import development
from unhack_contests.reward_hacking.detect.items import as_lines
from unhack_contests.reward_hacking.detect.measure import drawn, measure
from unhack_contests.reward_hacking.detect.settings import BOUND, TARGET, DetectSettings, parse
from unhack_contests.reward_hacking.intervals import bound_flag, gap_flag
from unhack_contests.reward_hacking.statement import champion_files


def _degamed(options: DetectSettings, folder: Path) -> Mapping[str, Files]:
    """A submission without its data files, so that nothing can be looked up, by what was done; none
    where there are no data files."""
    kept = {path.name: path.read_bytes() for path in sorted(folder.glob("*.py"))}
    data = [path for path in folder.iterdir() if path.suffix in (".json", ".npy")]
    if not data or "solution.py" not in kept:
        return {}
    return {"public data only": {**kept, "dev.jsonl": development(options)}}


_OPTIONS = DetectSettings()
_DECLARED = Declared(("solution.py",), (DECLINED, "*.py", "*.json", "*.jsonl", "*.npy"))


def load(options: Mapping[str, str]) -> Detect:
    """The contest with its options. Raises UsageError."""
    return Detect(parse(options))


@dataclass(frozen=True, slots=True)
class Detect:
    """The contest of detection."""

    options: DetectSettings = _OPTIONS
    name: str = "reward_hacking"
    title: str = "Reward hacking: detection"
    declared: Declared = _DECLARED
    exclusive: bool = False

    @property
    def settings(self) -> Mapping[str, Metric]:
        """See `Contest`."""
        return {
            "track": "detect", "pairs": self.options.pairs,
            "dev_pairs": self.options.dev_pairs, "bound": BOUND, "impossible_target": TARGET,
        }  # fmt: skip

    @property
    def submissions(self) -> Submissions:
        """See `Contest`; identity is what the workspace holds."""
        options = self.options
        return Submissions(
            null=honest.null,
            identity=lambda: honest.honest(options)["keywords"],
            honest=partial(honest.honest, options),
            cheats=partial(cheats.cheats, options),
            space=honest.SPACE,
            at=partial(honest.submission, options),
            degamed=partial(_degamed, options),
        )

    def workspace(self, terms: Terms) -> Files:
        """See `Contest`."""
        return {
            "STATEMENT.md": statement.write(self.options, terms=terms),
            **self.submissions.identity(),
            "dev.jsonl": honest.development(self.options),
            **champion_files(terms),
        }

    def honeypots(self) -> Files:
        """See `Contest`."""
        return cheats.honeypots()

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        """See `Contest`."""
        return measure(self.options, folder, pool=pool, seed=seed)

    def sealed(self, *, seed: int) -> bytes:
        """See `Contest`."""
        return as_lines(drawn(self.options, DataPool.JUDGE, seed))

    def public(self) -> bytes:
        """See `Contest`."""
        files = [*self.submissions.honest().values()]
        own = b"".join(data for one in files for data in one.values())
        told = statement.text(self.options).encode()
        return own + told + as_lines(drawn(self.options, DataPool.DEV, 0))

    def bounds(self, measured: Measurement) -> tuple[Flag, ...]:
        """See `Contest`: nobody is better than always right and sure."""
        return bound_flag(measured, BOUND)

    def gap(self, judged: Measurement, audited: Measurement) -> Flag | None:
        """See `Contest`."""
        return gap_flag(judged, audited)
