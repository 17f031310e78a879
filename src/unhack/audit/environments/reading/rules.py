"""The rules by which a task's texts are suspected.

    [one.kind for one in suspicions_of(TaskText(Path("task")))]

Covered: what the statement asks and the tests do not name; what tests look at, believe and want;
what lies in the image.
Not covered: requirements without a number or a file, tests in other languages than Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from unhack.audit.environments.reading.assertions import Strength
from unhack.audit.environments.reading.flow import Assertion, ReadTests, walk_tests
from unhack.audit.environments.reading.programs import needs_network, program_of
from unhack.audit.environments.reading.sources import RUN, Literal
from unhack.audit.environments.reading.statement import (
    asked_files,
    asked_numbers,
    is_near,
    numbers_in,
)
from unhack.audit.environments.reading.suspicion import SuspicionKind as Kind
from unhack.audit.environments.reading.suspicion import TaskSuspicion
from unhack.audit.environments.reading.task_text import TaskText
from unhack.core.lines import BoundedPattern

_STATEMENT, _DOCKERFILE = "instruction.md", "environment/Dockerfile"
_ANSWER = BoundedPattern(
    r"(?i)(?:^|[/_.-])(?:expected|golden|answers?|ground_?truth|reference_?(?:output|result|checksum"
    r"|answer)s?|correct_?(?:output|answer)s?|(?<![_.-])solutions?|test_outputs\.py|solve\.sh)(?:[/_.-]|$)"
)
_STRONG = Strength.TOLD | Strength.VALUE | Strength.RUN
_OF_MACHINE = ("/tests", "/logs", "/dev", "/proc", "/sys", "/usr", "/bin", "/etc/passwd", "/root/.")


def suspicions_of(text: TaskText) -> list[TaskSuspicion]:
    """All suspicions, in no order. Files that do not parse are added to `text.unread`."""
    numbers = numbers_in(text.statement)

    def told(value: Literal) -> bool:
        if value is None or isinstance(value, bool):
            return True
        if isinstance(value, (int, float)):
            return any(abs(value - one) < 1e-9 for one in numbers) or value == 0
        return isinstance(value, str) and value.strip().lower() in text.statement.lower()

    walks: dict[str, ReadTests] = {}
    for name, source in text.tests.items():
        if name.endswith(".py"):
            try:
                walks[name] = walk_tests(source, told)
                if "def test" in source and not walks[name].assertions:
                    text.unread.append(f"{name}: no assertion found")
            except SyntaxError as error:
                text.unread.append(f"{name}, line {error.lineno}: {error.msg}")
        elif not name.endswith((".sh", ".json", ".txt", ".csv", ".toml", ".md", "Dockerfile")):
            text.unread.append(name)
    if not any(name.endswith(".py") for name in text.tests):
        text.unread.append("no tests in Python: what they compare")
    found = [*_asked(text, walks), *_image(text, walks), *_shell(text)]
    for name, walk in walks.items():
        found += _tests(text, name, walk)
    if len([one for one in walks.values() if one.assertions]) == len(walks) == 1:
        found += _strengths(text, *walks.popitem())
    return found


def _asked(text: TaskText, walks: dict[str, ReadTests]) -> Iterator[TaskSuspicion]:
    """Files and numbers of the statement that the tests do not have."""
    tests = "\n".join(text.tests.values())
    code = [walk.constants for walk in walks.values()]
    shell = [source for name, source in text.tests.items() if name not in walks]
    named = {path for walk in walks.values() for path in walk.files}
    for one in asked_files(text.statement):
        name = one.text.rsplit("/", 1)[-1]
        others = {path for path in named if path.endswith(f"/{name}")}
        absent = name not in tests or (others and one.text not in others)
        if absent and not text.in_image(one.text):
            yield TaskSuspicion(Kind.OUTPUT_UNREAD, _STATEMENT, one.line, one.quote, one.text)
    known = numbers_in("\n".join([*code, *shell]))
    for one in asked_numbers(text.statement):
        if not is_near(one.text, known):
            yield TaskSuspicion(Kind.NUMBER_UNCHECKED, _STATEMENT, one.line, one.quote, one.text)


def _image(text: TaskText, walks: dict[str, ReadTests]) -> Iterator[TaskSuspicion]:
    """Tests, solutions and expected values in the image."""
    read = {path for walk in walks.values() for path in walk.files}
    for line, source in text.copies:
        parts = source.strip("./").split("/")
        if (parts[0] in ("tests", "solution") and ".." in source) or parts[-1] == "test_outputs.py":
            yield TaskSuspicion(Kind.ANSWER_IN_IMAGE, _DOCKERFILE, line, source, source)
    for path, file in text.image.items():
        if _ANSWER.search(file) and (
            path in read or file.endswith(("test_outputs.py", "solve.sh"))
        ):
            line = _line_of(text.dockerfile, file)
            yield TaskSuspicion(Kind.ANSWER_IN_IMAGE, _DOCKERFILE, line, file, path)


def _shell(text: TaskText) -> Iterator[TaskSuspicion]:
    """Lines of shell scripts, and the machine on which they run."""
    verifier: Any = text.settings.get("verifier")
    keys = cast("dict[str, Any]", verifier) if isinstance(verifier, dict) else {}
    apart = "environment" in keys or keys.get("environment_mode") == "separate"
    for name, source in text.tests.items():
        if not name.endswith(".sh"):
            continue
        for number, line in enumerate(source.split("\n"), 1):
            if needs_network(line):
                yield TaskSuspicion(Kind.NETWORK, name, number, line)
            program = program_of(line)
            places = [one for one in program.split() if one.startswith("/")]
            if places and not places[0].startswith(("/tests/", "/logs/")) and not apart:
                yield TaskSuspicion(Kind.GRADER_IN_IMAGE, name, number, line, places[0])
        if "/logs/verifier/reward" in source and not apart:
            number = _line_of(source, "/logs/verifier/reward")
            yield TaskSuspicion(Kind.SHARED_MACHINE, name, number, source.split("\n")[number - 1])


def _tests(text: TaskText, name: str, walk: ReadTests) -> Iterator[TaskSuspicion]:
    """Suspicions of what one file of tests runs, wants and leaves out."""
    lines = text.tests[name].split("\n")

    def at(kind: Kind, line: int, about: str = "") -> TaskSuspicion:
        return TaskSuspicion(kind, name, line, lines[line - 1], about)

    for line, program in walk.programs.items():
        yield at(Kind.RUNS_WORKSPACE, line, program)
    for line in walk.network:
        yield at(Kind.NETWORK, line)
    demanded = [one for one in walk.assertions if not one.condition]
    for line, condition in walk.skips.items():
        if not _wanted(condition, demanded) and not _told(condition, text.statement):
            yield at(Kind.SKIPPABLE, line, condition)
    for function in {one.function for one in walk.assertions}:
        own = [one for one in walk.assertions if one.function == function]
        strong = [one for one in own if one.strength & _STRONG]
        if function.startswith("test") and strong and all(one.condition for one in strong):
            first = strong[0]
            outside = any(not text.in_image(path) for path in first.given)
            open_to = outside or "exists" in first.condition
            held = _wanted(first.condition, demanded) or _told(first.condition, text.statement)
            if open_to and not held:
                yield at(Kind.SKIPPABLE, first.line, first.condition)
    for path, line in walk.files.items():
        if not _named(text, path):
            yield at(Kind.UNNAMED, line, path)
    for (path, key), line in walk.fields.items():
        known = key.lower() in text.given.lower() or not key.isidentifier()
        if not known and not _given(frozenset({path}), text):
            yield at(Kind.UNNAMED, line, key)


def _wanted(condition: str, demanded: list[Assertion]) -> bool:
    """True where another assertion wants what the condition asks, so that nothing is left out."""
    asked = condition.removeprefix("not ").strip()
    forms = {asked, f"{asked} == True", f"{asked} is True", f"{asked} is not None"}
    return any(one.text.removeprefix("not ") in forms for one in demanded)


def _told(condition: str, statement: str) -> bool:
    """True for a condition by a value that the statement allows."""
    return any(len(one) > 1 and one in statement for one in condition.split("'")[1::2])


def _named(text: TaskText, path: str) -> bool:
    """True where the statement or the image has the path, whole or as a folder and a name."""
    if (
        path.startswith(_OF_MACHINE)
        or text.in_image(path)
        or path in text.given
        or "*" in path
        or "/.git" in path
    ):
        return True
    folder, _, name = path.rpartition("/")
    return name in text.given and (folder in text.given or folder.count("/") < 1)


def _strengths(text: TaskText, name: str, walk: ReadTests) -> Iterator[TaskSuspicion]:
    """Suspicions of the assertions of a task, taken together."""
    lines = text.tests[name].split("\n")

    def at(kind: Kind, one: Assertion, about: str = "") -> TaskSuspicion:
        return TaskSuspicion(kind, name, one.line, lines[one.line - 1], about)

    wanted = [_weighed(one, text) for one in walk.assertions]
    every = Strength(0)
    for one in wanted:
        every |= one.strength
    first = {flag: one for one in reversed(wanted) for flag in Strength if flag in one.strength}
    if not every & _STRONG and not walk.programs:
        yield at(Kind.FORM_ONLY, first.get(Strength.FORM, walk.assertions[0]))
    elif not every & (Strength.VALUE | Strength.RUN) and not walk.programs:
        yield at(Kind.TOLD, first[Strength.TOLD])
    asked = {one.text for one in asked_files(text.statement)}
    for one in wanted:
        inside = _given(one.paths, text)
        if one.paths & asked:
            inside |= one.paths - asked - {RUN}
        outside = one.paths - inside - {RUN}
        if Strength.SUCCESS in one.strength and RUN not in one.paths and one.paths:
            yield at(Kind.CLAIM, one)
        if Strength.VALUE in one.strength and outside and inside and RUN not in one.paths:
            yield at(Kind.INPUT_WRITABLE, one, ", ".join(sorted(inside)))
        for path in one.paths if Strength.EXISTS in one.strength else ():
            named = path in walk.files and "." in path.rsplit("/", 1)[-1][1:]
            if named and path not in walk.contents and path in outside:
                yield at(Kind.EXISTENCE_ONLY, one, path)


def _given(paths: frozenset[str], text: TaskText) -> frozenset[str]:
    """Those that the image brings, by their path or, elsewhere, by their name."""
    names = {path.rsplit("/", 1)[-1] for path in text.image}
    return frozenset(
        path for path in paths - {RUN} if text.in_image(path) or path.rsplit("/", 1)[-1] in names
    )


def _weighed(one: Assertion, text: TaskText) -> Assertion:
    """A value of the statement under a condition: by what the image brings it is computed, by what
    was handed in it only agrees with itself."""
    if Strength.TOLD not in one.strength:
        return one
    inside = _given(one.paths, text)
    if inside and one.paths - inside - {RUN}:
        return replace(one, strength=one.strength ^ Strength.TOLD | Strength.VALUE)
    if one.condition:
        return replace(one, strength=one.strength ^ Strength.TOLD | Strength.FORM)
    return one


def _line_of(text: str, part: str) -> int:
    """The first line that has a part, counted from 1; 1 where none has it."""
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, 1) if part in line), 1)
