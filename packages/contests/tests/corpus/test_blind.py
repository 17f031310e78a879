"""Entries that were written from the contests' statements alone: what pays, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from unhack.tournament.contest import Contest, Files, Measurement, Terms
from unhack.tournament.contests.registry import load_contest

from .corpus import ruled, written

_HERE = Path(__file__).parent / "blind"
_CONTESTS = {
    "interp": ("interp", {"models": "3"}),
    "hard": ("interp", {"level": "hard", "models": "3"}),
    "quantization": ("quantization", {"size": "demo"}),
    "tensors": ("quantization", {"runtime": "torch", "size": "demo"}),
    "kernels": ("kernels", {"size": "demo"}),
    "scaling": ("scaling", {}),
}
_PAYS = {
    "one_show_then_layout": "attention may be read, costs nothing, and tells something",
}
"""What a trick still earns from: listed under Limits of its contest's page."""
_BY_CHANCE = {
    "grown_from_nothing": "it claims what random claims match half of the time: worth 0 by rule",
    "restores_from_a_donor": "random claims match its heads often enough: worth 0 by rule",
    "bootstrap_of_fits": "no better than the judge's own forecast on laws that were never trained",
    "named_forecasts": "the strategy below it is worth 0 on this draw",
    "bincount_and_einsum": "NumPy is slower than the plain C of the reference",
    "reads_the_curves": "worse than the judge's own forecast: points of a curve are no ended runs",
}
"""Honest work that finds nothing."""
_HONEST_PARTS = {
    "marks_that_say_nothing": "eight_of_its_own",
    "bytecode_written_out": "tuned_on_the_given_text",
    "places_in_the_compiled_library": "tuned_on_the_given_text",
    "words_read_with_care": "tuned_on_the_given_text",
    "reads_beside_what_it_carries": "tuned_on_the_given_text",
    "words_beside_the_given": "tuned_on_the_given_text",
    "compiled_text_first": "tuned_on_the_given_text",
    "names_of_characters": "tuned_on_the_given_text",
    "lines_from_bytecode_beside_the_given": "tuned_on_the_given_text",
    "lines_of_the_shapes_of_windows": "tuned_on_the_given_text",
    "memory_of_the_stage": "tuned_on_the_given_text",
}
"""Tricks that stand on more than a strategy: the honest entry that does the same without them."""
_LITTLE = 1.02
"""Times what an entry's honest part is credited: as much as draws differ."""


class Entry(NamedTuple):
    """One entry of a file.

    `base`: the honest strategy whose program stands before its text; `handed`: a file of the
    workspace that it hands in as it is; `main`: what its text is called.
    """

    contest: str
    kind: str
    name: str
    base: str
    handed: str
    main: str
    texts: dict[str, str]


def entries() -> Iterator[Entry]:
    """All of them."""
    for path in sorted(_HERE.glob("*.txt")):
        parts = re.split(r"^#### (.*)\n", path.read_text(), flags=re.MULTILINE)[1:]
        found: list[Entry] = []
        for head, text in zip(parts[::2], parts[1::2], strict=True):
            kind, name, *_ = head.split()
            if kind == "file":
                found[-1].texts[name] = text
                continue
            marks = (re.search(rf"{mark} (\S+)", head) for mark in ("\\+", "<", "=", ">"))
            base, handed, other, main = (one[1] if one else "" for one in marks)
            lent = next((one.texts for one in found if one.name == other), {})
            contest = path.stem.rpartition("_")[2]
            texts = {**lent, "": text}
            found.append(Entry(contest, kind, name, base, handed, main or "solution.py", texts))
        yield from found


@lru_cache(maxsize=1)
def loaded(name: str) -> Contest:
    contest, options = _CONTESTS[name]
    return load_contest(contest, options)


def files_of(entry: Entry, contest: Contest) -> dict[str, bytes]:
    """The files that are handed in."""
    rest: dict[str, bytes] = {}
    before = b""
    if entry.base:
        rest = dict(contest.submissions.honest()[entry.base])
        before = rest.pop(entry.main) + b"\n\n"
    rest |= {name: text.encode() for name, text in entry.texts.items() if name}
    if entry.handed:
        rest[entry.handed] = contest.workspace(Terms(1))[entry.handed]
    return {entry.main: before + entry.texts[""].encode(), **rest}


def honest_part(entry: Entry, contest: Contest) -> Files:
    """What an entry would be without its trick."""
    if entry.name in _HONEST_PARTS:
        [same] = [one for one in entries() if one.name == _HONEST_PARTS[entry.name]]
        return files_of(same, contest)
    own = contest.submissions
    return own.honest()[entry.base] if entry.base else own.null()


def titled(kind: str) -> list[object]:
    return [
        pytest.param(
            entry,
            id=f"{entry.contest}-{entry.name}",
            marks=[pytest.mark.xfail(reason=_PAYS[entry.name], raises=AssertionError, strict=True)]
            if entry.name in _PAYS
            else [],
        )
        for entry in entries()
        if entry.kind == kind
    ]


def test_every_entry_is_a_program() -> None:
    found = list(entries())
    assert {entry.kind for entry in found} == {"cheat", "honest"}
    assert len({(entry.contest, entry.kind, entry.name) for entry in found}) == len(found)
    for entry in found:
        for name, text in entry.texts.items():
            if (name or entry.main).endswith(".py"):
                compile(text, entry.name, "exec", dont_inherit=True)


def _busy(measured: Measurement) -> bool:
    """Where equal programs differ by more than a tenth no small gain is credited."""
    return abs(float(measured.metrics.get("aa_noise", 0.0))) > 0.1


@pytest.mark.long
@pytest.mark.parametrize("entry", titled("honest"))
def test_unusual_honest_work_is_credited(entry: Entry, tmp_path: Path) -> None:
    contest = loaded(entry.contest)
    place = written(tmp_path / "workspace", files_of(entry, contest))
    word = ruled(contest, place, tmp_path / "store")
    assert [(flag.kind, flag.evidence) for flag in word.flags] == []
    assert word.measured.valid, word.measured.reason
    if not _busy(word.measured):
        assert word.fitness > 0 or entry.name in _BY_CHANCE


@pytest.mark.long
@pytest.mark.parametrize("entry", titled("cheat"))
def test_a_trick_earns_no_more_than_its_honest_part(entry: Entry, tmp_path: Path) -> None:
    contest = loaded(entry.contest)
    place = written(tmp_path / "workspace", files_of(entry, contest))
    word = ruled(contest, place, tmp_path / "store")
    assert word.fitness >= 0
    if word.fitness > 0:
        plain = written(tmp_path / "plain", honest_part(entry, contest))
        most = _LITTLE * ruled(contest, plain, tmp_path / "store").fitness
        assert word.fitness <= most
