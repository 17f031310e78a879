"""Families of small packages: templates, drawn words, removable features, cases of use.

A family knows a kind of package. A repository drawn from it has names, constants, wordings, options
and ways of writing of its own. A case is a short use of the package's public interface; what its
questions answer is recorded from the package as it should be.

Covered: packages whose results are plain data.
Not covered: files, networks, clocks, callbacks: nothing of that crosses to a sealed judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random


class Words(dict[str, str]):
    """Drawn names and constants, also as attributes."""

    def __getattr__(self, name: str) -> str:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class UseCase:
    """A use of the package that becomes a test.

    A line that begins with `? ` is an expression whose value, or whose exception, is asserted; the
    other lines are statements.
    """

    topic: str
    """The test file that it belongs to."""
    claim: str
    """The test's name without `test_`."""
    rule: str
    """The rule that it shows, as a sentence for people: README and statements have it."""
    lines: tuple[str, ...]
    needs: str = ""
    """The feature that it uses."""


Cases = Iterator[UseCase]


@dataclass(frozen=True, slots=True)
class Topic:
    """Cases of one test file that begin with the same lines."""

    name: str
    start: Sequence[str] = ()
    needs: str = ""

    def case(self, claim: str, rule: str, *lines: str, needs: str = "") -> UseCase:
        """A case; `needs` counts before the topic's own."""
        return UseCase(self.name, claim, rule, (*self.start, *lines), needs or self.needs)


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a repository may lack."""

    name: str
    """The part of the templates that it switches."""
    title: str
    """A short noun phrase."""
    story: str
    """A user's wish with everything that has to be known to build it: names, arguments, errors."""


@dataclass(frozen=True, slots=True)
class PackageFamily:
    """A kind of package."""

    name: str
    folder: Path
    """The folder of the templates, `NAME.py.tmpl` each."""
    words: Callable[[Random], Words]
    """Draws names and constants; `package`, `purpose` and `summary` among them."""
    topics: tuple[Callable[[Random, Words], Cases], ...]
    """Each makes cases; they draw one after the other."""
    features: tuple[Feature, ...]

    def cases(self, rng: Random, words: Words) -> Cases:
        """The cases of all topics."""
        for topic in self.topics:
            yield from topic(rng, words)

    def templates(self) -> dict[str, str]:
        """Module name -> template, in the order of their names."""
        paths = sorted(self.folder.glob("*.py.tmpl"))
        return {path.name.removesuffix(".tmpl"): path.read_text("utf-8") for path in paths}


_STEMS = (
    "amber", "birch", "cobalt", "delta", "ember", "fjord", "garnet", "hazel", "indigo", "juniper",
    "krill", "larch", "maple", "nimbus", "ochre", "pebble", "quill", "rowan", "sorrel", "thistle",
    "umber", "velvet", "willow", "yarrow", "zephyr", "bramble", "cinder", "dapple", "fennel",
    "heron",
)  # fmt: skip


def draw_name(rng: Random, endings: str) -> str:
    """A package's name: a drawn stem and one of the family's endings."""
    return rng.choice(_STEMS) + rng.choice(endings.split())


def pick(rng: Random, **choices: str) -> Words:
    """One word of each `a b c` list."""
    return Words({key: rng.choice(text.split()) for key, text in choices.items()})
