"""The claims and their tests as parts of a report: for a terminal, as HTML and as plain data.

`unhack train report` finds this module by the entry point group `unhack.claims`.

Covered: what `unhack.training.experiment.report.claims` asks for. Not covered: arms and charts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from unhack.cli.verdict_table import plain_table
from unhack.reporting.page import card, section, table
from unhack.reporting.text import safe
from unhack.training.experiment.report.claims import ClaimsReport
from unhack_study.claims import Arms, ClaimVerdict, Comparison, comparisons, decide_claims
from unhack_study.preregistration import (
    Preregistration,
    find_preregistration,
    read_preregistration,
)
from unhack_study.statistics import Paired

_TONES = {"supported": "good", "refuted": "bad", "undecided": "unsure"}
_STYLES = {"supported": "green", "refuted": "red", "undecided": "yellow"}


def check_rules(plan: Path) -> None:
    """Raise UsageError, UnknownNameError for a plan whose table `[test]` cannot be read."""
    read_preregistration(plan)


def decide(arms: Arms, paths: Sequence[Path], plan: Path | None) -> ClaimsReport:
    """The three claims about the runs of `arms`, by the rules of a plan; without one, by those of
    the `plan.toml` in or above the folders."""
    rules = read_preregistration(plan) if plan is not None else find_preregistration(paths)
    claims, tests = decide_claims(arms, rules), comparisons(arms, rules)
    return ClaimsReport(
        arm=rules.arm,
        margin=rules.margin,
        fixed=bool(rules.source),
        supported=all(claim.verdict == "supported" for claim in claims),
        record={"claims": _plain(claims), "tests": _plain(tests), "rules": _plain(rules)},
        lines=tuple(_lines(claims, tests, rules)),
        claims_html=_claims_html(claims, rules),
        tests_html=_tests_html(tests, rules),
    )


def _plain(value: Any) -> Any:
    return to_jsonable_python(value)


def _lines(
    claims: Sequence[ClaimVerdict], tests: Sequence[Comparison], rules: Preregistration
) -> Iterator[RenderableType]:
    """The tests as a table, then a line for each claim and one for the rules."""
    if tests:
        yield _tests_table(tests, rules)
        yield Text("")
    for claim in claims:
        line = Text(f"{claim.name}: ", style="bold")
        line.append(claim.verdict, style=_STYLES[claim.verdict])
        line.append(f". {claim.reason}", style="not bold")
        yield line
    source = rules.source or "defaults, no plan was found: nothing was fixed beforehand"
    yield Text(f"rules: alpha {rules.alpha:g}, {source}", style="dim")


def _tests_table(tests: Sequence[Comparison], rules: Preregistration) -> Table:
    """The routed arm against the others."""
    names = (
        "pairs", "difference", "95 % interval", "p", "p (Holm)", "p of seeds", "Wilcoxon",
        "mass off by",
    )  # fmt: skip
    shown = plain_table({f"{rules.arm} against": "whole", **dict.fromkeys(names, "number")})
    for item in tests:
        test = item.test
        shown.add_row(
            item.arm,
            f"{test.count} ({item.fallen} below base)" if item.fallen else str(test.count),
            f"{test.mean:+.3f}",
            _interval(test, " … ") or "none (one pair)",
            f"{test.p:.2g}",
            *(_p(value, "-") for value in (item.p_holm, item.p_seeds, test.wilcoxon)),
            "-" if item.mass_gap is None else f"{item.mass_gap:.0%}",
        )
    return shown


def _claims_html(claims: Sequence[ClaimVerdict], rules: Preregistration) -> str:
    """The three verdicts."""
    cards = "".join(_claim(claim) for claim in claims)
    source = (
        f"Rules fixed in <code>{safe(rules.source)}</code>"
        if rules.source
        else '<b class="unsure">No plan was found: the rules are defaults, nothing was fixed '
        "beforehand.</b> They are"
    )
    side = "one-sided" if rules.alternative == "greater" else "two-sided"
    words = (
        f"{source}: exact {side} sign-flip tests at alpha {rules.alpha:g} over pairs of the same "
        "base model and seed."
    )
    note = f'<p class="soft small note">{words}</p>'
    return f'<section><div class="claims">{cards}</div>{note}</section>'


def _claim(claim: ClaimVerdict) -> str:
    return (
        f'<article class="card claim tone-{_TONES[claim.verdict]}"><h2>{safe(claim.name)}</h2>'
        f'<p class="word">{claim.verdict}</p><p>{safe(claim.reason)}</p>'
        f'<p class="soft small">{safe(claim.text)}</p></article>'
    )


def _tests_html(tests: Sequence[Comparison], rules: Preregistration) -> str:
    """The routed arm against every other."""
    if not tests:
        return ""
    rows = [_test_row(item, rules.alpha) for item in tests]
    names = (
        f"{safe(rules.arm)} against", "pairs", "mean difference", "95 % interval", "p",
        "p, Holm", "p of seeds", "Wilcoxon", "mass off by",
    )  # fmt: skip
    controls = ", ".join(f"<code>{safe(name)}</code>" for name in rules.controls) or "none"
    note = (
        "On deployed solve − deployed held-out hack. p of the exact sign-flip test; Holm-corrected "
        f"over the controls ({controls} and their ranked twins). "
        "<em>p of seeds</em> is of the same test on each seed's mean difference over base models; "
        "Wilcoxon's signed-rank test and the bootstrap interval are secondary. "
        "<em>Mass off by</em> is the difference in routed mass, summed step by step; above "
        f"{rules.mass_tolerance:.0%} a control is not matched."
    )
    return section("Tests", card(table(names, rows), note=note))


def _test_row(item: Comparison, alpha: float) -> list[str]:
    test, p = item.test, item.p_holm
    mark = "" if p is None else ("good" if p < alpha and test.mean > 0 else "unsure")
    gap = "–" if item.mass_gap is None else f"{item.mass_gap:.0%}"
    words = f"+{item.unpaired} alone" + (f", {item.fallen} below base" if item.fallen else "")
    alone = f' <span class="soft">{words}</span>' if item.unpaired else ""
    return [
        safe(item.arm) + ("" if p is not None else ' <span class="tag">no control</span>'),
        f"{test.count}{alone}",
        f"{test.mean:+.3f}",
        _interval(test, " to ") or '<span class="soft">none for one pair</span>',
        f"{test.p:.2g}" + ("" if test.exact else " (drawn)"),
        "–" if p is None else f'<b class="{mark}">{p:.2g}</b>',
        *(_p(value, "–") for value in (item.p_seeds, test.wilcoxon)),
        f'<b class="unsure">{gap}</b>' if item.matched is False else gap,
    ]


def _interval(test: Paired, between: str) -> str:
    """Both ends; empty for a single pair, which has none."""
    return "" if test.low is None else f"{test.low:+.3f}{between}{test.high:+.3f}"


def _p(value: float | None, none: str) -> str:
    return none if value is None else f"{value:.2g}"
