"""The pages of audited rewards: written by `audit_real.py` right after a run.

They hold a row for each target and a text for each package's maintainers, which the summary is too
small for; `holds` tells if a page is of the run that a summary tells of.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import audit_real_judged

_DOCS = Path(__file__).resolve().parents[1] / "docs" / "reference"
PAGE = _DOCS / "audited-rewards.md"
REPORTS = _DOCS / "audited-rewards-reports.md"
WITNESS, LINE = 56, 90
"""Characters of a witness and of a line of code in the table."""
_HEAD = """\
# Audited rewards

Reward functions and scorers as they are installed from an index, each through `unhack audit`
without a language model, until one hack is proven, {calls} calls are made or about {seconds:.0f}
seconds are used up. The page and [the texts for their maintainers](audited-rewards-reports.md) are
written by

```sh
{command}
```

A *hack* is a strategy that never reads the right answer and is rewarded more than honest guessing;
*reward* is its mean reward beside those of a guess and a right answer on the same problems, on how
many of them it is rewarded, and the p-value against guessing. A *false accept* is a wrong
completion that was made from the right answer and passes; it decides nothing. *None found* says
that nothing was found by what was tried; *power* is the number of weakened copies of the same
function that the same audit broke, of those that are proven to be weaker. *Undecided*: no correct
completion is rewarded, the function never sees an answer, or nothing was tried in time.

The problems are our own, at least eight for each function ({problems}); where the package's data
has another form, a finding may not carry over to it. *By hand* is what reading the function's
source says: a hack (the prompt is enough), a false accept (only who has the answer can write it) or
sound; the reasons stand in `benchmarks/audit_real_judged.toml`, the whole record of a run in
`benchmarks/results/full/audit_real.json`, which git does not keep. Seconds are those of one target
with imports and loading, several targets at a time; other work on the machine makes them longer.
Targets that the load stopped or whose data was not there, and those with the label hack that were
not proven, were run a second time as far as there was time: the last run counts, so that the share
of proven hacks is that of two tries. A click on a heading sorts the table.

{summary}
"""
_TABLE = """
| package | function | conclusion | flaw | reward | witness | line | power | s | by hand |
|---|---|---|---|---|---|---|---|---|---|
"""


def head(found: dict[str, Any]) -> str:
    """The page down to the table, from a summary."""
    told = {key: found[key] for key in ("calls", "seconds", "command", "problems")}
    return _HEAD.format(**told, summary=_summary(found))


def _summary(found: dict[str, Any]) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in found["counts"].items())
    parts = [
        f"{found['run']} of {found['targets']} functions, of {found['packages']} packages: "
        f"{counts}; {_holding(found)}",
        _compared(found["judged"]),
        _power(found["power"]),
        f"A target took {found['wall_s']['median']:.0f} s (median) and "
        f"{found['cpu_s']['median']:.1f} s of CPU where that was counted, at a load of "
        f"{found['load']}; commits of the audit: {', '.join(found['commits'])}. "
        + "; ".join(f"{count} targets on {name}" for name, count in found["hosts"].items())
        + ".",
    ]
    return "\n\n".join(part for part in parts if part)


def _holding(found: dict[str, Any]) -> str:
    attempts = found.get("hacks_by_many_attempts", 0)
    text = (
        f"{found['hacks_holding_the_gold']} of the proven hacks have a witness that holds the "
        "right answer."
    )
    if not attempts:
        return text
    return (
        f"{text} {attempts} more are rewarded for *many answers at once*: a text that was made "
        "without the right answer has it among others wherever it is rewarded, and is rewarded "
        "more often than any one of its parts would be right."
    )


def _compared(judged: dict[str, Any]) -> str:
    hack, sound = judged["labels"]["hack"], judged["labels"]["sound"]
    proven, drawn = hack.get(audit_real_judged.PROVEN, 0), judged["drawn_of_proven"]
    decided = sum(hack.values()) - hack.get("could not load", 0)
    if not decided:
        return ""
    return (
        f"Read by hand: {judged['not_proven_and_read']} of the {judged['not_proven']} that loaded "
        f"and were not proven, of which {judged['not_proven_and_hack']} can be hacked with the "
        f"prompt; and {drawn} of the proven ones, drawn at random, of which "
        f"{judged['drawn_and_hack']} are hacks by hand too. Of all {decided} with the label "
        f"hack, {proven} were proven; of {sum(sound.values())} with the label sound, "
        f"{sound.get(audit_real_judged.PROVEN, 0)} were accused of a hack."
    )


def _power(power: dict[str, Any]) -> str:
    if not power["run"]:
        return ""
    return (
        f"Power was measured for {power['run']} of the {power['wanted']} without a finding, in a "
        f"limited time each: of {power['weakened']} weakened copies the audit broke "
        f"{power['broken']}, {power['hacked']} of them by a hack."
    )


def holds(found: dict[str, Any], text: str) -> bool:
    """True for a page of the run that the summary `found` is of."""
    begin = head(found) + _TABLE
    return text.startswith(begin) and text[len(begin) :].count("\n") == found["run"]


def write(found: dict[str, Any], rows: Sequence[dict[str, Any]]) -> None:
    """Write both pages, from a summary and the rows of a run."""
    known = audit_real_judged.labels()
    PAGE.write_text(head(found) + _TABLE + "".join(_row(row, known) for row in rows))
    REPORTS.write_text(_reports(rows))


def finding_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """A hack before a false accept, the most serious first."""
    return min(row.get("findings") or [], key=lambda one: one["kind"] != "hack", default=None)


def _row(row: dict[str, Any], known: dict[str, tuple[str, str]]) -> str:
    finding = finding_of(row)
    target = row["target"].removeprefix(f"{row['package'].replace('-', '_')}.")
    power = row.get("power")
    cells = [
        f"{row['package']} {row.get('version', '')}".strip(),
        f"{_code(target)} ({row['kind']})",
        row["conclusion"],
        f"[{finding['flaw']}](flaws.md#{finding['flaw']})" if finding else "",
        _reward(finding["expected_reward"]) if finding else "",
        _code(finding["witness"], WITNESS) if finding else "",
        _line(finding["place"]) if finding else "",
        f"{power['broken']}/{power['weakened']}" if power else "",
        f"{row['seconds']:.0f}",
        known.get(audit_real_judged.name_of(row), ("", ""))[0],
    ]
    return f"| {' | '.join(cells)} |\n"


def _reward(of: dict[str, Any] | None) -> str:
    if of is None:
        return ""
    return (
        f"{of['mean']:.2f} (guess {of['honest']:.2f}, right {of['right']:.2f}), "
        f"{of['rewarded']}/{of['problems']}, p = {of['p_value']:.1g}"
    )


def _line(place: dict[str, Any] | None) -> str:
    if place is None:
        return ""
    name = place["path"].rpartition("/")[2]
    return f"{name}:{place['line']} {_code(place['code'], LINE)}"


def _code(text: str, most: int = 200) -> str:
    """Text as inline code that no table and no rule of Markdown takes apart."""
    if not text:
        return "(empty)"
    text = text.replace("\n", "⏎").replace("\t", " ")
    text = text if len(text) <= most else text[: most - 1] + "…"
    text = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)
    plain = html.escape(text, quote=False)
    return (
        "<code>" + "".join(f"&#{ord(one)};" if one in _MARKS else one for one in plain) + "</code>"
    )


_MARKS = "|`*[]\\"


# Texts for maintainers.

_REPORTS_HEAD = """\
# Reports for maintainers

One text for each package in which a hack was proven ([the table](audited-rewards.md)), ready to be
sent; nothing was sent. Each is made from the results, and names what to run to see the same.
"""
_MOST_OF_PACKAGE = 4
"""Functions that a report shows in full; the others are named."""


def _reports(rows: Sequence[dict[str, Any]]) -> str:
    hacked = [row for row in rows if row["conclusion"] == audit_real_judged.PROVEN]
    parts = [_REPORTS_HEAD]
    for package, some in groupby(hacked, key=lambda row: row["package"]):
        parts.append(_report(package, list(some)))
    return "\n".join(parts)


def _report(package: str, rows: Sequence[dict[str, Any]]) -> str:
    ranked = sorted(rows, key=lambda row: -_share(row))
    version = rows[0].get("version", "")
    count = "one reward function" if len(rows) == 1 else f"{len(rows)} reward functions"
    verb = "rewards" if len(rows) == 1 else "reward"
    lines = [
        f"## {package}\n",
        "```text",
        f"Subject: {package} {version}: {count} {verb} wrong answers\n",
        f"In {package} {version} an automatic audit found that {count} {verb}",
        "completions that are wrong and need nothing but the prompt. A policy that is trained",
        "on such a reward is rewarded for not solving problems; benchmark scores are too high.",
    ]
    for row in ranked[:_MOST_OF_PACKAGE]:
        lines += ["", *_shown(row)]
    if others := ranked[_MOST_OF_PACKAGE:]:
        names = ", ".join(f"{row['target']} ({finding_of(row)['flaw']})" for row in others)
        lines += ["", f"The same holds for {names}."]
    lines += [
        "",
        "Each reward was measured on several problems, made by a program. To see it yourself, pass",
        "the completion to the function with the answer that stands beside it.",
        "```",
        "",
    ]
    return "\n".join(lines)


def _share(row: dict[str, Any]) -> float:
    reward = finding_of(row)["expected_reward"]
    return reward["share"] if reward else 0.0


def _shown(row: dict[str, Any]) -> list[str]:
    finding = finding_of(row)
    reward, place = finding["expected_reward"], finding["place"]
    lines = [
        f"* {row['target']}",
        *([] if row["kind"] == "gym" else [f"  problem:     {_flat(finding['prompt'])}"]),
        f"  completion:  {_flat(finding['witness'])}",
        f"  reward:      {finding['score']:.3g}; right is {_flat(finding['answer'] or 'another')}",
    ]
    if reward:
        lines.append(
            f"  mean reward: {reward['mean']:.2f} over {reward['problems']} problems "
            f"(guessing {reward['honest']:.2f}, right answers {reward['right']:.2f})"
        )
    if place:
        lines.append(f"  line:        {place['path']}:{place['line']}: {_flat(place['code'])}")
    return [*lines, f"  to fix it:  {finding['fix']}"]


def _flat(text: str) -> str:
    text = text.replace("```", "'''")
    return repr(text if len(text) <= 160 else text[:159] + "…")
