"""Statements of tasks at three levels of help, made from what was observed of the faulty package.

    traceback    the failing run, with the lines of the package that it went through
    symptom      a session with the package, and what should have come instead
    story        the rule that is broken, in a user's words; no session, no place

A removed feature is asked for in the words of its family, with or without sessions.

Covered: examples from the `report` and `visible` splits, played for the statement alone.
Not covered: anything of the hidden or the dev split; this module never sees them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from unhack_suites.repos import recording
from unhack_suites.repos.family import Feature, UseCase
from unhack_suites.repos.loader import Loaded
from unhack_suites.repos.repository import Repository
from unhack_suites.repos.running import LocalRunner, Ran, ids_of

_NUMBER = re.compile(r"_\d+$")
LEVELS = ("traceback", "symptom", "story")
_OPENINGS = (
    "We use {package} {purpose}.",
    "{package} has been with us for a while; we use it {purpose}.",
    "I maintain a small service that uses {package} {purpose}.",
)
_ENDINGS = (
    "Please find the cause and fix it in the package. The behaviour is described in README.md; "
    "everything else must go on working.",
    "Please fix the package itself, not only these inputs. README.md says how it should behave, "
    "and whatever works now has to go on working.",
)
_FEATURE_ENDINGS = (
    "Please add this to `{package}/`. Everything that works now has to go on working.",
    "It should fit in with the rest of `{package}/`, whose present behaviour must not change.",
)


@dataclass(frozen=True, slots=True)
class Observed:
    """A case that goes otherwise in the faulty package."""

    case: UseCase
    right: tuple[recording.Line, ...]
    wrong: tuple[recording.Line, ...]


def observe(repository: Repository, faulty: Mapping[str, str]) -> list[Observed]:
    """Cases of the visible and report splits that answer otherwise when they are played in the
    faulty package; the shortest of each rule."""
    good, bad = repository.loaded(), Loaded(faulty)
    found: dict[str, Observed] = {}
    for case in _candidates(repository):
        right = recording.play(case, good, repository.package)
        wrong = recording.play(case, bad, repository.package)
        if not _alike(right, wrong):
            one = Observed(case, tuple(right), tuple(wrong))
            if case.rule not in found or _length(one) < _length(found[case.rule]):
                found[case.rule] = one
    return list(found.values())


def _alike(right: Sequence[recording.Line], wrong: Sequence[recording.Line]) -> bool:
    """True where all answers agree; the words of an exception do not count."""
    ends = [[(line.text, line.value, line.raised) for line in lines] for lines in (right, wrong)]
    return ends[0] == ends[1]


def _candidates(repository: Repository) -> Iterator[UseCase]:
    yield from repository.cases("visible")
    yield from repository.cases("report")


def _length(one: Observed) -> int:
    return sum(len(line) for line in one.case.lines)


@dataclass(frozen=True, slots=True)
class FaultySetting:
    """All that a statement of faults is written from."""

    repository: Repository
    faulty: Mapping[str, str]
    visible: Mapping[str, str]
    seed: str


def of_faults(setting: FaultySetting, level: str, *, parts: int) -> str | None:
    """The statement of a faulty package; None where nothing but hidden inputs shows the fault."""
    rng = Random(f"{setting.seed}/statement")
    seen = observe(setting.repository, setting.faulty)
    if not seen:
        return None
    rng.shuffle(seen)
    seen = seen[: max(2, parts)] if level != "story" else seen[: parts + 1]
    words = setting.repository.words
    opening = rng.choice(_OPENINGS).format(package=words["package"], purpose=words["purpose"])
    ending = rng.choice(_ENDINGS)
    if level == "traceback":
        body = _runs(setting, seen)
    elif level == "symptom":
        body = "\n\n".join(_session(setting.repository, one) for one in seen)
        opening += " Since the last change it gives wrong results:"
    else:
        body = _complaint(seen, rng)
    return f"{opening}\n\n{body}\n\n{ending}\n"


def _complaint(seen: Sequence[Observed], rng: Random) -> str:
    """The broken rules as what users reported, without inputs."""
    lead = rng.choice(
        (
            "Users have reported that the package no longer keeps to what its README promises:",
            "Some of what README.md promises does not hold any more:",
        )
    )
    lines = [f"- {one.case.rule} {_what_came(one)}" for one in seen]
    return "\n".join([lead, "", *lines])


def _what_came(one: Observed) -> str:
    """The kind of difference, in words."""
    for right, wrong in zip(one.right, one.wrong, strict=False):
        if not _alike([right], [wrong]):
            if wrong.raised and not right.raised:
                return f"At present a `{wrong.raised}` comes up."
            if right.raised and not wrong.raised:
                return f"At present no `{right.raised}` comes up."
            if right.raised:
                return f"At present a `{wrong.raised}` comes up, not a `{right.raised}`."
    return "At present the result is a different one."


def _session(repository: Repository, one: Observed) -> str:
    """A session up to the first wrong answer, and the right one."""
    at = next(
        index
        for index, (right, wrong) in enumerate(zip(one.right, one.wrong, strict=False))
        if not _alike([right], [wrong])
    )
    names = recording.public_names(repository.loaded(), repository.package)
    shown = [line for line in one.wrong[:at] if not line.asks] + [one.wrong[at]]
    text = recording.as_session(repository.package, shown, names)
    right = one.right[at]
    if right.raised:
        wanted = f"This should raise `{right.raised}`."
    elif not right.asks:
        wanted = "The last line should raise nothing."
    elif "\n" in right.value:
        wanted = f"The last answer should be\n\n```python\n{right.value}\n```"
    else:
        wanted = f"The last answer should be `{right.value}`."
    if one.wrong[at].value == "None":
        wanted = f"{wanted} It is `None`."
    return f"```python\n{text}\n```\n\n{wanted}"


def _runs(setting: FaultySetting, seen: Sequence[Observed]) -> str:
    """A failing run: of the visible tests where they fail, else of a script with an example."""
    ran = LocalRunner()(setting.faulty, setting.visible)
    failed = [(name, one) for name, one in ran.items() if not one.passed]
    if failed:
        names = "\n".join(f"FAILED {name}" for name, _ in failed[:6])
        more = f"\n... and {len(failed) - 6} more" if len(failed) > 6 else ""
        texts = {**setting.faulty, **setting.visible}
        shown = "\n\n".join(_trace(name, one, texts) for name, one in _different(failed))
        return f"`python -m pytest` fails:\n\n```\n{names}{more}\n\n{shown}\n```"
    names = set(recording.public_names(setting.repository.loaded(), setting.repository.package))
    script = recording.as_file(
        "A reproduction.", setting.repository.package,
        {_NUMBER.sub("", one.case.claim): one.right for one in seen[:2]}, names,
    )  # fmt: skip
    files = {"reproduce.py": script}
    ran = LocalRunner()(setting.faulty, files)
    texts = {**setting.faulty, **files}
    shown = "\n\n".join(_trace(name, ran[name], texts) for name in ids_of(files))
    return (
        "The package's own tests pass, but this script, which pytest runs, does not:\n\n"
        f"```python\n{script}```\n\n```\n{shown}\n```"
    )


def _different(failed: Sequence[tuple[str, Ran]]) -> list[tuple[str, Ran]]:
    """At most two failures, that end in different places if there are such."""
    first = failed[0]
    others = [one for one in failed[1:] if one[1].spots[-1] != first[1].spots[-1]]
    return [first, *others[:1]]


def _trace(name: str, ran: Ran, texts: Mapping[str, str]) -> str:
    lines = [f"{name}", "Traceback (most recent call last):"]
    for spot in ran.spots:
        lines.append(f'  File "{spot.path}", line {spot.line}, in {spot.function}')
        lines.append(f"    {texts[spot.path].splitlines()[spot.line - 1].strip()}")
    return "\n".join([*lines, ran.error])


def of_feature(repository: Repository, feature: Feature, level: str, *, seed: str) -> str:
    """The statement that asks for a feature; with sessions at the level `symptom`, with a failing
    session as well at the level `traceback`."""
    rng = Random(f"{seed}/statement")
    words = repository.words
    opening = rng.choice(_OPENINGS).format(package=words["package"], purpose=words["purpose"])
    story = string.Template(feature.story).substitute(words)
    ending = rng.choice(_FEATURE_ENDINGS).format(package=words["package"])
    parts = [opening, story]
    if level != "story":
        examples = list(_examples(repository, feature))
        count = 1 if level == "symptom" else 2
        sessions = "\n\n".join(f"```python\n{text}\n```" for text in examples[:count])
        parts += ["For example:" if count == 1 else "Examples:", sessions]
    return "\n\n".join([*parts, ending]) + "\n"


def _examples(repository: Repository, feature: Feature) -> Iterator[str]:
    loaded = repository.loaded()
    names = recording.public_names(loaded, repository.package)
    rules: set[str] = set()
    for case in repository.cases("report"):
        if case.needs == feature.name and case.rule not in rules:
            rules.add(case.rule)
            played = recording.play(case, loaded, repository.package)
            yield recording.as_session(repository.package, played, names)


def broken_rule(repository: Repository, one: Observed, level: str) -> str:
    """A paragraph about a fault that stands beside something else."""
    if level == "story":
        return f"One more thing, which worked before: {one.case.rule} {_what_came(one)}"
    return f"One more thing, which worked before:\n\n{_session(repository, one)}"
