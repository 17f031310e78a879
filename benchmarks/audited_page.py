"""The page of audited rewards, made of `results/audit_real.json` and of what was judged by hand."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from measure import rows_of

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "reference" / "audited-rewards.md"
_HEAD = """\
# Audited rewards

Reward functions and scorers as they are installed from an index, each through `unhack audit`
without a language model, until one exploit is proven or at most {limit:.0f} seconds are used up.
The page is made by `python benchmarks/figures.py` from the results of

```sh
{command}
```

A proven exploit is a completion that scores at least as much as the lowest-scoring correct one
and is wrong by the oracle. The witnesses are in the full record of a run, the problems and correct
completions in `benchmarks/audit_real.toml` and `benchmarks/audit_real_scorers.toml`. *None found*
says that nothing was found by what was tried. *Unproven* means that nothing could be decided on
these problems: the function never looks at an answer, or rewards none of the correct completions.
Seconds are of the whole run of one target, imports and loading included, two targets at a time;
other work on the machine makes them longer.

{summary}
"""


def page(document: dict[str, Any]) -> str:
    """The page's text."""
    rows = rows_of(document["functions"])
    counts = Counter(row["conclusion"] for row in rows)
    judged = _judged()
    parts = [f"{count} {name}" for name, count in counts.most_common()]
    packages = len({row["package"] for row in rows})
    summary = f"{len(rows)} of {document['targets']} listed functions, of {packages} packages: "
    summary += ", ".join(parts) + "."
    missed = [row for row in rows if row["conclusion"] != "exploit proven" and _key(row) in judged]
    open_ = [row for row in missed if judged[_key(row)]]
    proven = counts["exploit proven"]
    summary += f" Of those without a proof, {len(missed)} were read by hand: {len(open_)} of them "
    summary += f"can be exploited, so at most {proven} of {proven + len(open_)} were found."
    lines = [_HEAD.format(limit=document["seconds"], command=document["command"], summary=summary)]
    lines += [
        "| package | function | conclusion | flaw | by hand | s |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        hand = {True: "exploitable", False: "none seen", None: ""}[judged.get(_key(row))]
        hand = "" if row["conclusion"] == "exploit proven" else hand
        name = f"{row['package']} {row['version'] or ''}".strip()
        target = row["target"].removeprefix(f"{row['package'].replace('-', '_')}.")
        flaw = f"[{row['flaw']}](flaws.md#{row['flaw']})" if row["flaw"] else ""
        lines.append(
            f"| {name} | `{target}` ({row['kind']}) | {row['conclusion']} | {flaw} | {hand} "
            f"| {row['seconds']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def _key(row: dict[str, Any]) -> str:
    return f"{row['package']} {row['target']} {row['kind']}"


def _judged() -> dict[str, bool]:
    """By target: whether reading its source shows a wrong completion with the full reward."""
    data = tomllib.loads((HERE / "audit_real_judged.toml").read_text())
    return dict.fromkeys(data["exploitable"], True) | dict.fromkeys(data["none_seen"], False)
