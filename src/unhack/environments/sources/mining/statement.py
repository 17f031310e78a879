"""A statement out of what was observed: calls that give something else with the reference.

    Calling `pkg.core.area(3, 5)` gives `8`; `15` is expected.

No test, no line of the reference and no message of the commit is quoted: only arguments and results
of calls into the code, errors, and names that are missing.

Covered: examples from at most half of the failing tests, so that a table of them does not pass;
texts that share eight words in a row with a hidden test or with the reference are left out.
Not covered: the reason for the behaviour, which no run shows; a statement may be thin.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from unhack.environments.sources.mining.leaks import shingles
from unhack.environments.sources.mining.paths import module_of
from unhack.environments.sources.mining.test_runs import Failure, TestRun

_MOST_EXAMPLES = 6
_MOST_TESTS = 3
_MOST_CHARS = 200
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+|\bobject>")


class Examples:
    """Collects examples that give nothing away."""

    def __init__(self, secret: frozenset[tuple[str, ...]]) -> None:
        """`secret`: runs of words of the hidden tests and of the reference."""
        self.lines: list[str] = []
        self.refused = 0
        """Examples that were left out since they quote something secret."""
        self._secret = secret

    def add(self, line: str) -> None:
        """Take an example, unless it is known, too long or quotes something secret."""
        if line in self.lines or len(self.lines) >= _MOST_EXAMPLES:
            return
        if not shingles(line).isdisjoint(self._secret):
            self.refused += 1
        elif len(line) <= 2 * _MOST_CHARS and not _ADDRESS.search(line):
            self.lines.append(line)


def write_statement(
    before: TestRun, after: TestRun, failing: Sequence[str], *, roots: Sequence[str],
    secret: frozenset[tuple[str, ...]], brought: Collection[str] = (),
) -> str:  # fmt: skip
    """The statement. `before` and `after` hold traced calls, `failing` the ids that have to pass,
    `roots` the packages and modules that may be changed, `brought` the names that the reference
    defines. Empty where nothing could be told."""
    examples = Examples(secret)
    for name in _telling(before, after, failing, brought):
        found = len(examples.lines)
        earlier = before.calls.get(name, ())
        later = after.calls.get(name, ())
        if name.partition("::")[0] in before.uncollected:
            later = [one for one in later if _is_new(one, brought)]
        _compare(examples, earlier, later)
        if len(examples.lines) == found:
            _tell_failure(examples, before.failed.get(name))
    files = {name.partition("::")[0] for name in failing}
    for text in (before.uncollected.get(path, "") for path in sorted(files)):
        missing = missing_name(text)
        if missing:
            examples.add(f"`{missing}` is not there.")
    if not examples.lines:
        return ""
    return told(examples.lines, roots=roots, count=len(failing))


def told(lines: Sequence[str], *, roots: Sequence[str], count: int) -> str:
    """The statement of some observations; `count` checks fail."""
    where = ", ".join(f"`{root}`" for root in roots)
    checks = f"{count} check{'s' * (count != 1)}"
    return "\n".join([
        f"The code in {where} does not do all that is expected of it. Observed:",
        "",
        *(f"- {line}" for line in lines),
        "",
        f"{checks} fail{'s' * (count == 1)} for this and related inputs. Find the cause and"
        " fix the code; what works already has to go on working.",
    ])  # fmt: skip


def _telling(
    before: TestRun, after: TestRun, failing: Sequence[str], brought: Collection[str]
) -> list[str]:
    """At most half of the failing tests, those that say most first."""

    def rank(name: str) -> tuple[bool, bool]:
        calls = after.calls.get(name, ())
        is_new = any(_is_new(one, brought) for one in calls)
        return not is_new, not calls and name not in before.calls

    most = max(1, min(_MOST_TESTS, (len(failing) + 1) // 2))
    return sorted(failing, key=rank)[:most]


def _is_new(record: Mapping[str, Any], brought: Collection[str]) -> bool:
    return not set(str(record["name"]).split(".")).isdisjoint(brought)


def _compare(
    examples: Examples, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> None:
    """Calls that give one thing before and another after, at the same place of the test."""
    earlier = {_call(one): one for one in reversed(before)}
    for one in after:
        call = _call(one)
        expected = _outcome(one)
        now = _outcome(earlier[call]) if call in earlier else ""
        if len(call) > _MOST_CHARS or not expected or now == expected:
            continue
        if now:
            examples.add(f"`{call}` {now}; it is expected that it {expected}.")
        elif not before:
            examples.add(f"`{call}` is expected to work: it {expected}.")


def _call(record: Mapping[str, Any]) -> str:
    name = f"{module_of(str(record['path']))}.{record['name']}"
    return f"{name}({', '.join(map(str, record['arguments']))})"


def _outcome(record: Mapping[str, Any]) -> str:
    if "error" in record:
        message = str(record.get("message", ""))
        return f"raises `{record['error']}`" + (f" ({message})" if message else "")
    return f"gives `{record['result']}`" if "result" in record else ""


def _tell_failure(examples: Examples, failure: Failure | None) -> None:
    """The error that a test ended with, or the values that an assertion of it compared."""
    if failure is None or not failure.error:
        return
    message = failure.message.replace("\n +  ", ", ").partition("\n")[0][:_MOST_CHARS]
    if failure.error in ("AssertionError", "Failed"):
        if message.startswith(("assert ", "DID NOT RAISE")):
            examples.add(f"A check ends with `{message}`.")
        return
    place = failure.place.rpartition(" in ")
    where = f" in `{place[2]}` of `{place[0].rpartition(':')[0]}`" if failure.place else ""
    examples.add(f"`{failure.error}` is raised{where}: {message}")


def missing_name(text: str) -> str:
    """The name that a test file asked for in vain, from the words of its import error."""
    for pattern in (
        r"cannot import name '([\w.]+)' from '[\w.]+'",
        r"No module named '([\w.]+)'",
        r"has no attribute '([\w.]+)'",
        r"NameError: name '(\w+)' is not defined",
    ):
        found = re.findall(pattern, text)
        if found:
            return str(found[-1])
    return ""
