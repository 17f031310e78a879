"""Repositories drawn from a family: package, README, settings, and suites of several splits.

    repository = draw_repository(family, "7/3")
    repository.files()                      the package as it should be
    repository.suite("visible")             tests as a developer would have them
    repository.suite("hidden", secret="…")  other inputs, which only the judge knows

Covered: the visible, dev and hidden splits, and `report`, from which statements take examples.
Not covered: faults (`faults`) and tasks (`suite`).

Templates of source files: drawn names, switched parts, two forms of the same part.

A template is the text of a file with

    $name  ${name}          a drawn name or constant
    <<one|another>>         one of several wordings
    %if part / %else / %end lines that stand there only where `part` is switched on
    %form / %or / %end      two ways to write the same thing; which one is a drawn bit

Wordings and bits are drawn by their place in the template, so a switched-off part changes nothing
elsewhere.

Covered: text files. Not covered: loops, expressions in conditions.
"""

from __future__ import annotations

import functools
import hashlib
import random
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from unhack.core.errors import UsageError
from unhack_suites.repos import recording
from unhack_suites.repos.family import Feature, PackageFamily, UseCase, Words
from unhack_suites.repos.loader import Loaded

_WORDING = re.compile(r"<<([^<>\n]*\|[^<>\n]*)>>")
_BLANKS = re.compile(r"\n{4,}")
_TRAILING = re.compile(r"\n{2,}\Z")


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices that one rendering follows."""

    seed: str
    words: Mapping[str, str]
    parts: frozenset[str]
    flipped: bool = False
    """The other form of every `%form` block."""


def render(template: str, draw: Choices, *, path: str) -> str:
    """The file that a template gives. Raises UsageError for a template that is not well formed."""
    rng = random.Random(f"{draw.seed}/{path}/wordings")
    text = _WORDING.sub(lambda found: rng.choice(found[1].split("|")), template)
    bits = random.Random(f"{draw.seed}/{path}/forms")
    kept: list[str] = []
    stack: list[bool] = []
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        match word:
            case "%if":
                name = rest.removeprefix("not ")
                stack.append((name in draw.parts) is (name == rest))
            case "%form":
                stack.append((bits.random() < 0.5) is not draw.flipped)
            case "%else" | "%or" if stack:
                stack[-1] = not stack[-1]
            case "%end" if stack:
                stack.pop()
            case _ if word.startswith("%"):
                raise UsageError(f"{path}:{number}: no such directive here: {line.strip()}")
            case _ if all(stack):
                kept.append(line)
            case _:
                pass
    if stack:
        raise UsageError(f"{path}: a block is not closed by %end")
    try:
        filled = string.Template("\n".join(kept) + "\n").substitute(draw.words)
    except KeyError as error:
        raise UsageError(f"{path}: the family draws no word {error}") from None
    return _TRAILING.sub("\n", _BLANKS.sub("\n\n\n", filled)).lstrip("\n")


_ROUNDS = {"visible": 1, "dev": 1, "hidden": 2, "report": 3}
_SUFFIX = {"visible": "", "dev": "_dev", "hidden": "_more", "report": "_report"}
_OTHERS = 3
_PYPROJECT = """\
[project]
name = "{package}"
version = "{version}"
description = "{summary}"
requires-python = ">=3.11"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
"""


@dataclass(frozen=True, slots=True)
class Repository:
    """A small package with everything around it."""

    family: PackageFamily
    seed: str
    words: Words
    features: tuple[Feature, ...]
    """The features that this repository has when it is complete."""
    visible: frozenset[str]
    """Claims that its own suite covers."""

    @property
    def package(self) -> str:
        """The name of the package."""
        return self.words["package"]

    def sources(self, *, without: str = "", flipped: bool = False) -> dict[str, str]:
        """The package's modules; `flipped` writes every part with two forms in the other one.

        A template of which nothing is left gives no file.
        """
        parts = frozenset(one.name for one in self.features if one.name != without)
        draw = Choices(self.seed, self.words, parts, flipped)
        found = {
            f"{self.package}/{name}": render(text, draw, path=name)
            for name, text in self.family.templates().items()
        }
        return {path: source for path, source in found.items() if source.strip()}

    def files(self, *, without: str = "") -> dict[str, str]:
        """Everything but tests: modules, README, settings."""
        settings = _PYPROJECT.format(
            package=self.package, summary=self.words["summary"], version=_version(self.seed)
        )
        return {
            "README.md": self._readme(without),
            "pyproject.toml": settings,
            **self.sources(without=without),
        }

    def cases(self, split: str, *, secret: str = "", without: str = "") -> Iterator[UseCase]:
        """The cases of a split, claims of later rounds with a number behind them."""
        present = {one.name for one in self.features if one.name != without} | {""}
        for number in range(1, _ROUNDS[split] + 1):
            rng = Random(f"{secret or self.seed}/{self.seed}/{split}/{number}")
            for case in self.family.cases(rng, self.words):
                if case.needs in present and (split != "visible" or case.claim in self.visible):
                    suffix = "" if number == 1 else f"_{number}"
                    yield replace(case, claim=case.claim + suffix)

    def suite(self, split: str, *, secret: str = "", without: str = "") -> dict[str, str]:
        """Test files of a split, recorded from the package as it is without that feature."""
        loaded = self.loaded(without=without)
        names = set(recording.public_names(loaded, self.package))
        topics: dict[str, dict[str, list[recording.Line]]] = {}
        known: set[tuple[str, ...]] = set()
        if split != "visible":
            known = {case.lines for case in self.cases("visible")}
        for case in self.cases(split, secret=secret, without=without):
            if case.lines in known:
                continue
            known.add(case.lines)
            played = recording.play(case, loaded, self.package)
            recording.check(case, played)
            plays = topics.setdefault(case.topic, {})
            if case.claim in plays:
                raise UsageError(f"{self.family.name}: {case.claim} is there twice")
            plays[case.claim] = played
        return {
            f"tests/test_{topic}{_SUFFIX[split]}.py": recording.as_file(
                f"Tests of {topic.replace('_', ' ')}.", self.package, plays, names
            )
            for topic, plays in topics.items()
        }

    def other_suites(self) -> list[dict[str, str]]:
        """Hidden suites of other secrets: the repository's usual wording."""
        return [self.suite("hidden", secret=f"other {number}") for number in range(_OTHERS)]

    def loaded(self, *, without: str = "") -> Loaded:
        """A fresh load of the package."""
        return Loaded(self.sources(without=without))

    def rules(self, *, without: str = "") -> dict[str, list[str]]:
        """Topic -> the sentences that hold for the package."""
        found: dict[str, list[str]] = {}
        present = {one.name for one in self.features if one.name != without} | {""}
        for case in self.family.cases(Random(self.seed), self.words):
            rules = found.setdefault(case.topic, [])
            if case.needs in present and case.rule not in rules:
                rules.append(case.rule)
        return {topic: rules for topic, rules in found.items() if rules}

    def _readme(self, without: str) -> str:
        loaded = self.loaded(without=without)
        names = set(recording.public_names(loaded, self.package))
        rng = Random(f"{self.seed}/readme")
        plain = [case for case in self.family.cases(rng, self.words) if not case.needs]
        usage: list[str] = []
        for case in plain[:2]:
            played = recording.play(case, loaded, self.package)
            usage.append(recording.as_session(self.package, played, names))
        rules = "\n\n".join(
            f"### {topic.replace('_', ' ').capitalize()}\n\n"
            + "\n".join(f"- {rule}" for rule in of)
            for topic, of in self.rules(without=without).items()
        )
        examples = "\n\n".join(f"```python\n{text}\n```" for text in usage)
        return (
            f"# {self.package}\n\n{self.words['summary']}\n\n## Usage\n\n{examples}\n\n"
            f"## Behaviour\n\n{rules}\n\n## Tests\n\nRun `python -m pytest`.\n"
        )


def draw_repository(family: PackageFamily, seed: str) -> Repository:
    """The repository of a family that a seed draws."""
    rng = Random(f"repository/{family.name}/{seed}")
    words = family.words(rng)
    names = [one.name for one in family.features]
    absent = rng.choice([*names, ""]) if len(names) > 1 and rng.random() < 0.5 else ""
    features = tuple(one for one in family.features if one.name != absent)
    claims = list(dict.fromkeys(case.claim for case in family.cases(Random(seed), words)))
    share = rng.choice((0.5, 0.75, 1.0))
    visible = frozenset(rng.sample(claims, max(1, round(share * len(claims)))))
    return Repository(family, f"{family.name}/{seed}", words, features, visible)


@functools.cache
def _version(seed: str) -> str:
    digest = hashlib.sha256(seed.encode()).digest()
    return f"{digest[0] % 3}.{digest[1] % 12}.{digest[2] % 8}"


def text_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """The files of a task as text."""
    return {path: data.decode("utf-8") for path, data in files.items()}
