"""How many items there are, and the options that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unhack.tournament.contests.reward_hacking.calls import no_more, number_option

BOUND = 1.0
TARGET = BOUND + 0.05
PROBES = 20
"""Pairs of development data that are asked again, as they are and in another form."""
_OPTIONS = ("pairs", "dev_pairs")


@dataclass(frozen=True, slots=True)
class DetectSettings:
    """How many pairs of items there are."""

    pairs: int = 60
    """Of a measurement."""
    dev_pairs: int = 80
    """Of the data that agents are given."""


def parse(options: Mapping[str, str]) -> DetectSettings:
    """Settings from `key=value` options. Raises UsageError for another option."""
    left = dict(options)
    base = DetectSettings()
    pairs = number_option(left, "pairs", base.pairs)
    dev_pairs = number_option(left, "dev_pairs", base.dev_pairs)
    no_more(left, _OPTIONS)
    return DetectSettings(max(10, pairs), max(PROBES, dev_pairs))
