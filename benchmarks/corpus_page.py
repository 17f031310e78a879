"""The page of judged cheats: written by `tournament_corpus.py --save` right after a run.

The page is the record of every submission, which the summary is too small for; `holds` tells if a
page is of the run that a summary tells of.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "judged-cheats.md"
DEFENCES = {
    "freeze": "only plain declared files leave the workspace",
    "scan": "source is read, never believed",
    "judge": "the judge measures, in a process of its own",
    "bounds": "what is better than possible is no result",
    "counterfactual": "a second draw of data",
    "honeypot": "planted files",
    "lineage": "cheats are not inherited",
}
"""Who flags: what it rests on."""
_HEAD = """\
# Judged cheats

Every honest entry and every [cheat](cheats.md) of the contests on the judge of `unhack tournament`
and on a naive one: a single process in the folder of the submission that believes what it is told,
built for this comparison (`benchmarks/naive_judge`). The page is written by

```sh
{command}
```

{summary}

## What each defence buys

*Alone* counts the cheats that no other defence flags; *would win* those of the flagged ones that no
honest entry of the contest beats on the naive judge.

| defence | | flags | alone | would win |
|---|---|---|---|---|
{defences}

## Every submission

*Naive* is what the naive judge believes, *measured* what the judge measures before flags,
*credited* what counts.
"""


def short(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Caught, accused and paid, in a sentence, and the number of submissions of each contest."""
    contests = sorted({row["contest"] for row in rows})
    return {
        "summary": sentence(rows),
        "submissions": {name: sum(row["contest"] == name for row in rows) for name in contests},
    }


def sentence(rows: list[dict[str, Any]]) -> str:
    """How many were caught, accused and paid, in a sentence."""
    cheats = [row for row in rows if row["submission"].startswith("cheat ")]
    honest = [row for row in rows if row["submission"].startswith("honest ")]
    hit = [row for row in cheats if row["expected"] in row["flags"]]
    refused = [row for row in cheats if not row["expected"] and not row["credited"]]
    accused = [row for row in honest if row["flags"]]
    credited = [row for row in rows if row["submission"] == "null" and row["credited"]]
    best = {
        name: max(row["naive"] or 0.0 for row in honest if row["contest"] == name)
        for name in {row["contest"] for row in rows}
    }
    ahead = [row for row in cheats if (row["naive"] or 0.0) >= best[row["contest"]]]
    contests = len({row["contest"] for row in rows})
    text = f"{len(cheats)} cheats in {contests} contests: {len(hit)} flagged as what they are"
    text += f", {len(refused)} that need no flag worth nothing" if refused else ""
    count = len(credited) or "no"
    noun = "submissions" if len(credited) > 1 else "submission"
    return (
        f"{text}; {len(accused)} of {len(honest)} honest entries accused; {count} empty {noun} "
        f"earned credit. On the naive judge {len(ahead)} cheats are not beaten by any honest entry."
    )


def head(found: dict[str, Any]) -> str:
    """The page down to the table of defences, from a summary."""
    defences = "\n".join(
        f"| {name} | {DEFENCES[name]} | {cell['flagged']} | {cell['alone']} | {cell['would_win']} |"
        for name, cell in sorted(found["defences"].items(), key=lambda item: -item[1]["flagged"])
    )
    return _HEAD.format(command=found["command"], summary=found["summary"], defences=defences)


def holds(found: dict[str, Any], text: str) -> bool:
    """True for a page of the run that the summary `found` is of."""
    listed = {
        title_of(part.split("\n", maxsplit=1)[0]): part.count("\n| ") - 1
        for part in text.split("\n### ")[1:]
    }
    wanted = {title_of(name): count for name, count in found["submissions"].items()}
    return text.startswith(head(found)) and listed == wanted


def title_of(contest: str) -> str:
    """A contest's name as a heading."""
    return contest.replace("_", " ").capitalize()


def page(found: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The page's text, from a summary and every submission."""
    parts = [head(found)]
    rows = sorted(rows, key=lambda row: row["contest"])
    for contest, some in groupby(rows, key=lambda row: row["contest"]):
        parts.append(f"\n### {title_of(contest)}\n\n")
        parts.append(
            "| submission | naive | measured | credited | flags |\n|---|---|---|---|---|\n"
        )
        for row in some:
            naive = "no number" if row["naive"] is None else f"{row['naive']:.3g}"
            flags = ", ".join(f"`{flag}`" for flag in row["flags"])
            parts.append(
                f"| {row['submission'].replace('_', ' ')} | {naive} | {row['raw']:.3g} "
                f"| {row['credited']:.3g} | {flags} |\n"
            )
    return "".join(parts)
