"""The parts of the results page that the record of the matrix fills: pictures, claims, rates.

A set of claims whose runs are not all recorded says how many are, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matrix_page
import train_matrix
from matrix_runs import Key, RunFigures, planned, recorded
from matrix_tests import CLAIMS, Arms, Tested, arm_rows, mean, missing, rules_of, shortcuts, units

SCALES = {
    "matrix": "0.1M parameters, over {units} choices of modes with two seeds on two bases each",
    "large": "55M parameters, over {units} seeds on one base with one choice of modes",
    "where": "0.1M parameters, over {units} runs on four bases with three choices of modes",
}
"""What stands in the sentence of each claim."""
SHORTCUTS = ("echo", "ordered")
"""The modes whose hack is in the steps of a program."""


def blocks() -> dict[str, list[str]]:
    """By name of a block: its lines."""
    runs = recorded()
    found = {name: _claims(runs, name) for name in CLAIMS}
    return {**found, "shortcuts": _shortcuts(runs)}


def _claims(runs: Mapping[Key, list[RunFigures]], name: str) -> list[str]:
    left = missing(runs, name)
    if left:
        return _not_yet(runs, CLAIMS[name].parts, sum(left.values()))
    tested, arms = train_matrix.tested(runs, name)
    lines = [f"![{train_matrix.ABOUT[name].title}](../assets/routing-{name}.svg)", ""]
    if name == "where":
        return [*lines, *_conditions(tested, train_matrix.without_apart(arms, rules_of(name)))]
    shown = train_matrix.without_apart(arms, rules_of(name))[""]
    lines += [f"![The claims](../assets/routing-{name}-claims.svg)", ""]
    for word in ("supported", "not shown"):
        lines += _together([one for one in tested if matrix_page.verdict(one)[0] == word], name)
    held = {row["arm"]: row for row in arm_rows(shown)}
    lines += ["Runs that leak (held-out hacks above 0.1): " + ", ".join(
        f"{arm} {held[arm]['leaks']} of {held[arm]['runs']}"
        for arm in ("real", "placebo_states", "filter", "vanilla") if arm in held
    ) + "."]  # fmt: skip
    return [*lines, *_fallen(tested)]


def _fallen(tested: Sequence[Tested]) -> list[str]:
    """The controls that no claim uses, if there are any."""
    found = dict.fromkeys(name for one in tested for name in one.fallen)
    if not found:
        return []
    return ["", f"Not used, as they pass less than their base: {'; '.join(found)}."]


def _together(tested: Sequence[Tested], name: str) -> list[str]:
    """A sentence of claims with one verdict, with their scale and figures."""
    if not tested:
        return []
    word = matrix_page.verdict(tested[0])[0].capitalize()
    counts = [len(one.own) for one in tested if name != "matrix" or len(one.own) >= 13]
    least, most = (pick(counts, default=0) for pick in (min, max))
    scale = SCALES[name].format(units=most if least == most else f"{least} or {most}")
    told: list[str] = []
    for one in tested:
        title = matrix_page.title_of(one.claim)
        border = f", border {-100 * one.margin:+.0f}" if one.margin else ""
        p = "none" if one.p_holm is None else f"{one.p_holm:.2g}"
        runs = f", {len(one.own)} runs" if name == "matrix" and len(one.own) < 13 else ""
        told.append(
            f"{title[0].lower()}{title[1:]} ({100 * one.gap:+.1f}, {100 * one.low:+.1f} to "
            f"{100 * one.high:+.1f}{border}; p {p}{runs})"
        )
    return [f"**{word}** at {scale}: {'; '.join(told)}.", ""]


def _conditions(tested: Sequence[Tested], arms: Mapping[str, Arms]) -> list[str]:
    count = len(next(iter(arms.values()))["real"])
    lines = [
        f"Held-out rates at {SCALES['where'].format(units=count)}, and the claims that hold:",
        "",
    ]
    for part, own in arms.items():
        rates = ", ".join(
            f"{arm} {mean(units(own[arm], 'held_out').values()):.2f}"
            for arm in matrix_page.ORDER
            if arm in own and arm != "ceiling"
        )
        held = [one for one in tested if one.claim["part"] == part and one.supported]
        names = ", ".join(one.claim["name"] for one in held) or "nothing"
        name = matrix_page.words()["condition"][part]
        lines.append(f"- **{name}**: {rates}. Supported: {names}.")
    return [*lines, *_fallen(tested)]


def _shortcuts(runs: Mapping[Key, list[RunFigures]]) -> list[str]:
    rows = shortcuts(runs)
    if not rows:
        there = sum(len(items) for (part, _, _), items in runs.items() if part == "shortcuts")
        return _not_yet(runs, ("shortcuts",), sum(1 for _ in planned("shortcuts", {})) - there)
    heads = [f"{mode}, {side}" for mode in SHORTCUTS for side in ("known", "held out")]
    lines = [f"| arm | {' | '.join(heads)} | solve |", "|---" * (len(heads) + 2) + "|"]
    for arm in matrix_page.ORDER:
        own = [row for row in rows if row["arm"] == arm]
        cells = [
            f"{mean(row['hack'] for row in own if (row['mode'], row['known']) == (mode, side)):.2f}"
            for mode in SHORTCUTS
            for side in (True, False)
            if own
        ]
        if own:
            solve = mean(row["solve"] for row in own)
            lines.append(f"| {matrix_page.named(arm)} | {' | '.join(cells)} | {solve:.2f} |")
    return lines


def _not_yet(runs: Mapping[Key, list[RunFigures]], parts: Sequence[str], left: int) -> list[str]:
    there = sum(len(items) for (part, _, _), items in runs.items() if part in parts)
    return [f"{there} of {there + left} runs are recorded; nothing is tested before all are there."]
