"""The stylesheet: readable in light and dark, and every class in it is used."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import unhack
from unhack.reporting.chart import SERIES, WIDTHS

STYLE = files("unhack.reporting").joinpath("stylesheet.css").read_text(encoding="utf-8")
SOURCE = Path(unhack.__file__).parent
SERIES_NAMES = {f"s{place}" for place in range(SERIES)}
WIDTH_NAMES = {f"w{width}" for width in WIDTHS}
WORDS = {"ink", "soft", "good", "bad", "unsure", "warm", "cool", "grey", *SERIES_NAMES}
"""Colours that letters have."""


def _schemes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", STYLE, flags=re.S)
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in blocks)
    return {"light": light, "dark": {**light, **dark}}


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2, 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_of_letters_can_be_read(scheme: str) -> None:
    colours = _schemes()[scheme]
    dull = {
        (name, ground): round(_contrast(colours[name], colours[ground]), 2)
        for name in WORDS
        for ground in ("card", "page")
        if _contrast(colours[name], colours[ground]) < 4.5
    }
    assert dull == {}
    assert _contrast(colours["ink"], colours["mark"]) > 4.5
    assert _contrast(colours["ink"], colours["well"]) > 4.5
    for ground in ("card", "page", "well"):  # links have the colour of the focus
        assert _contrast(colours["focus"], colours[ground]) > 4.5


def test_a_dark_page_names_every_colour_of_the_light_one() -> None:
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, flags=re.S)
    assert set(re.findall(r"--[\w-]+(?=:)", light)) == set(re.findall(r"--[\w-]+(?=:)", dark))


def test_colours_in_turn_are_as_many_as_the_charts_count_on() -> None:
    assert set(re.findall(r"\.(s\d+) \{ --c: var\(--\1\)", STYLE)) == SERIES_NAMES


def test_every_class_of_the_stylesheet_is_used_by_a_page() -> None:
    rules = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", STYLE, flags=re.S)
    classes = set(re.findall(r"\.([a-z][\w-]*)", rules)) - SERIES_NAMES - WIDTH_NAMES
    rooms = ("reporting", "audit", "tournament/report", "training/experiment/report", "cli/score",
             "server/pages")  # fmt: skip
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for room in rooms
        for ending in ("*.py", "*.html")
        for path in (SOURCE / room).rglob(ending)
    )
    tones = {name for name in classes if name.startswith("tone-")}
    patterns = {name: rf"(?<![\w-]){name}(?![\w-])" for name in classes - tones}
    patterns |= {name: rf'{name}\b|"{name[5:]}"' for name in tones}
    unused = {name for name, pattern in patterns.items() if not re.search(pattern, code)}
    assert unused == set()


def test_a_chart_of_every_width_has_its_bounds() -> None:
    found = re.findall(r"\.w(\d+) \{ min-width: (\d+)px; max-width: (\d+)px; \}", STYLE)
    assert found == [(str(w), str(round(0.8 * w)), str(round(1.3 * w))) for w in WIDTHS]


def test_every_variable_is_named_before_it_is_used() -> None:
    assert set(re.findall(r"var\(--([\w-]+)\)", STYLE)) <= {*_schemes()["light"], "c", "v"}


def test_the_focus_of_a_keyboard_can_be_seen() -> None:
    assert re.search(r":focus-visible \{ outline: 3px solid", STYLE)
    assert "outline: none" not in STYLE


def test_nothing_of_a_page_moves() -> None:
    """So there is nothing to leave out for who wants reduced motion."""
    assert not re.search(r"animation|transition|scroll-behavior|@keyframes", STYLE)


def test_what_is_printed_is_printed_whole() -> None:
    print_rules = STYLE.split("@media print {")[1]
    for rule in (
        "pre { max-height: none; }",
        ".item { content-visibility: visible; }",
        ".scroll { overflow: visible; }",
    ):
        assert rule in print_rules


def test_every_class_of_a_mark_on_a_chart_has_a_colour() -> None:
    """A mark without one is black, on a dark page too."""
    rooms = [*SOURCE.rglob("*.py"), *(SOURCE.parents[1] / "benchmarks").glob("*.py")]
    known = {*re.findall(r"\.([a-z][\w-]*)", STYLE), *WORDS}
    named = {
        (path.name, kind)
        for path in rooms
        if "chart import" in path.read_text(encoding="utf-8")
        for kinds in re.findall(r'\bkind="([^"{}]*)"', path.read_text(encoding="utf-8"))
        for kind in kinds.split()
    }
    assert {name for name, _ in named} >= {"batches.py", "plots.py", "matrix_page.py"}
    assert {each for each in named if each[1] not in known} == set()
