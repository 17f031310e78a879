"""The page of the matrix: a figure for each registered claim, for a reader from outside.

Each claim has its words, its verdict, both sides of every unit as dots, the differences with their
mean and interval against the border, and what the answer decides.

Covered: the page, and the overview of arms that documents take too. Not covered: tests
(`matrix_tests`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from matrix_tests import Arms, Tested, mean, units
from unhack.reporting.chart import Axis, Chart, rows, spread
from unhack.reporting.page import card, document, figure, legend, section, table, top
from unhack.reporting.text import safe

WORDS = Path(__file__).with_name("matrix_words.toml")
MEASURES = {
    "held_out": "held-out hacks, deployed",
    "solve": "solved, deployed",
    "figure": "solved less held-out hacks, deployed",
}
ORDER = (
    "vanilla", "detector_penalty", "replay_states", "redrawn", "filter", "wrong", "decoys",
    "placebo", "placebo_states", "real", "oracle", "ceiling",
)  # fmt: skip
"""Arms from the worst expected to the best possible."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The texts that a set of claims has of its own; HTML."""

    title: str
    about: str
    """Model size, modes, runs and what a unit is."""
    made: str
    """Commands and machines."""


@cache
def words() -> dict[str, Any]:
    """Names of arms and claims, and what each answer decides."""
    return tomllib.loads(WORDS.read_text(encoding="utf-8"))


def named(arm: str) -> str:
    """An arm in a reader's words."""
    return words()["arm"][arm]


def page(
    heading: Heading, tested: Sequence[Tested], arms: Mapping[str, Arms], *,
    alpha: float, more: Sequence[str] = (),
) -> str:  # fmt: skip
    """The whole page; `more` are further sections."""
    count = sum(one.supported for one in tested)
    parts = [
        top(
            heading.title,
            why=f"{heading.about} {count} of {len(tested)} claims are supported, each by an exact "
            f"one-sided sign-flip test at {alpha:g} after Holm's correction. Claims and tests were "
            "fixed before the first run. A claim that is not supported is not refuted.",
            figures={title_of(one.claim): verdict(one)[0] for one in tested}
            if len(tested) <= 12
            else {"claims": str(len(tested)), "supported": str(count)},
        )
    ]
    if len(tested) > 12:
        parts.append(section("All claims", card(claims_table(tested))))
    for part, own in arms.items():
        parts.append(overview(_raised(words()["condition"].get(part, "All arms")), own))
        parts += [claim_figure(one) for one in tested if one.claim.get("part", "") == part]
    parts += [*more, section("How this was made", card(heading.made))]
    return document(heading.title, parts)


def title_of(claim: Mapping[str, Any]) -> str:
    """A claim in a few words."""
    title = words()["claim"][claim["name"]]["title"]
    if "part" not in claim:
        return title
    return f"{_raised(words()['condition'][claim['part']])}: {title[0].lower()}{title[1:]}"


def _raised(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def verdict(one: Tested) -> tuple[str, str]:
    """A word and its tone."""
    return ("supported", "tone-good") if one.supported else ("not shown", "tone-unsure")


def overview(name: str, arms: Arms, *, label: str = "each small dot is one run") -> str:
    """Both rates of every arm: runs as specks, means as diamonds."""
    charts = [arm_chart(arms, measure).svg() for measure in ("held_out", "solve")]
    note = (
        f"Left: hacked prompts of the modes that no pair shows, less is better. Right: solved "
        f"prompts, more is better. {label[0].upper()}{label[1:]}, the diamond is the mean."
    )
    return figure(name, charts, note=note)


def arm_chart(arms: Arms, measure: str, *, of_units: bool = False) -> Chart:
    """One rate by arm; with `of_units` a dot is the mean of a unit's runs."""
    listed = [arm for arm in reversed(ORDER) if arm in arms]
    chart = Chart(
        Axis(0.0, 1.0 if measure == "held_out" else 0.5, MEASURES[measure], percent=True),
        rows([named(arm) for arm in listed], letters=29),
        f"{MEASURES[measure]}, by arm",
        (430.0, 80.0 + 26.0 * len(listed)),
    )
    for place, arm in enumerate(listed):
        tone = "s0" if arm == "real" else "tone-grey"
        runs = [one[measure] for items in arms[arm].values() for one in items]
        dots = list(units(arms[arm], measure).values()) if of_units else runs
        for index, value in enumerate(dots):
            lift = place + 0.28 * ((index * 7 % 11) / 5 - 1)
            chart.point((value, lift), f"{named(arm)}: {value:.1%}", kind=tone, shape="speck")
        middle = mean(runs)
        chart.point(
            (middle, float(place)), f"{named(arm)}: {middle:.1%} over {len(runs)} runs",
            kind=tone, shape="diamond",
        )  # fmt: skip
        chart.note((max(dots), float(place)), f"{middle:.1%}", kind=tone)
    return chart


def claim_figure(one: Tested) -> str:
    """A claim with both sides, differences, verdict and meaning."""
    word, tone = verdict(one)
    own = named(one.claim["arm"])
    against = one.claim["against"]
    other = f"the bound, {against:.0%}" if isinstance(against, float) else named(against)
    said = words()["claim"][one.claim["name"]]
    head = f'<p>{safe(one.claim["text"])} <span class="badge {tone}">{word}</span></p>' + legend(
        {own: "s0", other: "s1 hollow", "mean with its 95 % interval": tone}
    )
    p = "no test" if one.p_holm is None else f"p = {one.p:.2g}, {one.p_holm:.2g} after Holm"
    border = f"{-one.margin * 100 or 0.0:+.0f}" if one.margin else "0"
    note = (
        f"<b>{safe(said['supported' if one.supported else 'open'])}</b> Mean advantage "
        f"{one.gap * 100:+.1f} points (95 % interval {one.low * 100:+.1f} to "
        f"{one.high * 100:+.1f}) over {len(one.own)} units, border {border}; {p}. "
        "Left: both sides of every unit. Right: its advantage; where it is shaded the claim is met."
    )
    charts = [both_sides(one).svg(), differences(one).svg()]
    return figure(title_of(one.claim), charts, legend=head, note=note) + _values(one)


def both_sides(one: Tested) -> Chart:
    """A row for each unit, from the least advantage to the most: the arm and the other."""
    ordered = sorted(one.gaps, key=lambda unit: one.gaps[unit])
    values = [*one.own.values(), *one.other.values()]
    axis = spread(values, MEASURES[one.claim["measure"]], zero=True)
    chart = Chart(
        Axis(axis.low, axis.high, axis.label, percent=True),
        rows([""] * len(ordered)),
        f"{title_of(one.claim)}: both sides, one row for each unit",
        (430.0, 76.0 + 15.0 * len(ordered)),
    )
    for place, unit in enumerate(ordered):
        left, right = one.other[unit], one.own[unit]
        told = f"{' + '.join(unit)}: {right:.1%} against {left:.1%}"
        chart.line([(left, float(place)), (right, float(place))], kind="tone-grey")
        chart.point((left, float(place)), told, kind="s1 hollow")
        chart.point((right, float(place)), told, kind="s0")
    return chart


def differences(one: Tested) -> Chart:
    """The advantage of every unit, the mean with its interval, and the border of the claim."""
    gaps = {unit: 100 * gap for unit, gap in one.gaps.items()}
    border = -100 * one.margin
    axis = spread(
        [*gaps.values(), border, 0.0, 100 * one.low, 100 * one.high],
        "advantage in percentage points",
    )
    chart = Chart(
        axis, rows([""] * 3), f"{title_of(one.claim)}: advantage, mean and interval", (430.0, 190.0)
    )
    chart.band(border, axis.high, text="met")
    chart.line([(border, -0.5), (border, 2.5)], kind="tone-ink dashed")
    for place, (unit, gap) in enumerate(gaps.items()):
        chart.point(
            (gap, 1.6 + 0.5 * ((place * 7 % 11) / 5 - 1)), f"{' + '.join(unit)}: {gap:+.1f}",
            kind="s0",
        )  # fmt: skip
    _, tone = verdict(one)
    chart.interval((100 * one.low, 0.2), (100 * one.high, 0.2), kind=tone)
    chart.point(
        (100 * one.gap, 0.2), f"mean {100 * one.gap:+.1f}", kind=tone, shape="diamond",
    )  # fmt: skip
    return chart


def claims_chart(tested: Sequence[Tested]) -> Chart:
    """Every claim in a row: mean advantage with its interval, its border, its verdict."""
    listed = list(reversed(tested))
    ends = [100 * value for one in listed for value in (one.low, one.high, -one.margin)]
    room = 0.3 * (max(ends) - min(ends))  # for the words
    chart = Chart(
        spread(
            [*ends, 0.0, max(ends) + room],
            "advantage in percentage points, 95 % interval; the border dotted",
        ),
        rows([title_of(one.claim) for one in listed], letters=58),
        "claims",
        (860.0, 80.0 + 26.0 * len(listed)),
    )
    for place, one in enumerate(listed):
        word, tone = verdict(one)
        border = -100 * one.margin
        chart.line([(border, place - 0.4), (border, place + 0.4)], kind="tone-ink dotted")
        chart.interval((100 * one.low, place), (100 * one.high, place), kind=tone)
        chart.point((100 * one.gap, float(place)), word, kind=tone, shape="diamond")
        text = f"{100 * one.gap:+.1f} {word}"
        chart.note((max(100 * one.high, border), float(place)), text, kind=tone)
    return chart


def condition_chart(arms: Mapping[str, Arms], measure: str) -> Chart:
    """One rate by condition and arm: units as dots, means as diamonds."""
    listed = [
        (part, arm)
        for part in reversed(list(arms))
        for arm in reversed(ORDER)
        if arm in ("vanilla", "filter", "placebo", "placebo_states", "real") and arm in arms[part]
    ]
    chart = Chart(
        Axis(0.0, 1.0, MEASURES[measure], percent=True),
        rows([_row_name(part, arm) for part, arm in listed], letters=62),
        f"{MEASURES[measure]}, by condition and arm",
        (860.0, 80.0 + 22.0 * len(listed)),
    )
    for place, (part, arm) in enumerate(listed):
        tone = "s0" if arm == "real" else "tone-grey"
        values = list(units(arms[part][arm], measure).values())
        for index, value in enumerate(values):
            lift = place + 0.28 * ((index * 7 % 11) / 5 - 1)
            chart.point((value, lift), f"{value:.1%}", kind=tone, shape="speck")
        middle = mean(values)
        chart.point((middle, float(place)), f"{middle:.1%}", kind=tone, shape="diamond")
        chart.note((max(values), float(place)), f"{middle:.1%}", kind=tone)
    return chart


def _row_name(part: str, arm: str) -> str:
    return f"{_raised(words()['condition'][part])}: {named(arm)}"


def _values(one: Tested) -> str:
    body = table(
        ("unit", "its arm", "the other", "advantage"),
        [
            (safe(" + ".join(unit)), f"{one.own[unit]:.1%}", f"{one.other[unit]:.1%}",
             f"{100 * gap:+.1f}")
            for unit, gap in sorted(one.gaps.items(), key=lambda item: -item[1])
        ],
    )  # fmt: skip
    return f'<details class="card"><summary>All units</summary>{body}</details>'


def claims_table(tested: Sequence[Tested]) -> str:
    """All claims in rows: mean advantage, interval, border, p and verdict."""
    return table(
        ("claim", "advantage, points", "95 % interval", "border", "p (Holm)", "verdict"),
        [
            (
                safe(title_of(one.claim)),
                f"{100 * one.gap:+.1f}",
                f"{100 * one.low:+.1f} to {100 * one.high:+.1f}",
                f"{-100 * one.margin or 0.0:+.0f}" if one.margin else "0",
                "" if one.p_holm is None else f"{one.p_holm:.2g}",
                f'<span class="{verdict(one)[1].removeprefix("tone-")}">{verdict(one)[0]}</span>',
            )
            for one in tested
        ],
        words=(0, 5),
    )
