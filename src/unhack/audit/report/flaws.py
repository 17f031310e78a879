"""The taxonomy: every class of flaw that the audit may report, in words.

Covered: what goes wrong, an example, the fix, the nearest documented case and a severity for each.
Not covered: how a flaw is found (`attacks`, `suspicions`) and whether a verifier has it (`runner`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from unhack.core.finding import Severity


@dataclass(frozen=True, slots=True)
class Flaw:
    """A class of flaw."""

    id: str
    title: str
    """A few words, without a full stop."""
    wrong: str
    """The fault, in two sentences or three."""
    example: str
    """A short flawed verifier in Python."""
    fix: str
    """The remedy, in the imperative."""
    case: str
    """The nearest documented case, by project or paper."""
    severity: Severity
    """Unless a finding knows better."""


def _load() -> Mapping[str, Flaw]:
    text = (resources.files("unhack.audit.report") / "flaws.toml").read_text(encoding="utf-8")
    found = {
        name: Flaw(name, **{**entry, "example": entry["example"].strip("\n"),
                            "severity": Severity(entry["severity"])})
        for name, entry in tomllib.loads(text).items()
    }  # fmt: skip
    return MappingProxyType(found)


FLAWS: Mapping[str, Flaw] = _load()
"""Every class by its id, in the order of the reference page."""


def to_markdown() -> str:
    """The text of `docs/reference/flaws.md`."""
    parts = [_HEAD, _table()]
    parts += [_section(entry) for entry in FLAWS.values()]
    return "\n".join(parts)


_HEAD = """\
# Flaws

Every finding of `unhack audit` names one of these classes. The examples are flawed on purpose. The
severity of a class is the usual one; that of a finding follows from its kind and its expected
reward:

| severity | the finding is |
|---|---|
| critical | a hack that earns at least nine tenths of the way from a guess to a right answer |
| high | a hack that earns at least half of the way |
| medium | a hack that is rewarded less, and above the honest ceiling |
| low | a false accept: its witness was made from the right answer |

[What an audit proves](../explanation/what-an-audit-proves.md) defines hack, false accept and
expected reward.
"""


def _table() -> str:
    rows = [
        f"| [`{entry.id}`](#{entry.id}) | {entry.title} | {entry.severity.value} |"
        for entry in FLAWS.values()
    ]
    return "\n".join(["| id | flaw | severity |", "|---|---|---|", *rows, ""])


def _section(entry: Flaw) -> str:
    return (
        f"## {entry.title} {{ #{entry.id} }}\n\n"
        f"`{entry.id}`, {entry.severity.value}. {entry.wrong}\n\n"
        f"```python\n{entry.example}\n```\n\n"
        f"**Fix.** {entry.fix}\n\n"
        f"**Nearest case.** {entry.case}\n"
    )
