"""Charts: round numbers that cover their axis, marks in the frame, labels apart, text escaped."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unhack.reporting.chart import Axis, Chart, Point, round_numbers, rows, spread

NUMBERS = st.floats(-1e12, 1e12)
MEASURED = st.one_of(
    st.floats(1e-6, 1e9), st.floats(-1e9, -1e-6), st.sampled_from([0.0, math.nan, math.inf])
)
HOSTILE = st.text(st.sampled_from("<>&\"'\x1b\u202e\n]a;/!-"), min_size=1, max_size=20)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[float, float]:
    low = draw(NUMBERS)
    high = low + draw(st.floats(1e-6, 1e12))
    assume(high - low > 1e-6 * max(abs(low), abs(high)))
    return low, high


@given(ranges())
def test_ticks_are_round_and_cover_the_range(ends: tuple[float, float]) -> None:
    low, high = ends
    found = round_numbers(low, high)
    assert 2 <= len(found) <= 9
    step = found[1] - found[0]
    slack = 1e-6 * step
    assert all(b - a == pytest.approx(step) for a, b in pairwise(found))
    assert low - slack <= found[0] < low + step + slack
    assert high - step - slack < found[-1] <= high + slack
    leading = step / 10 ** math.floor(math.log10(step * (1 + 1e-9)))
    assert min(abs(leading - one) for one in (1, 2, 5)) < 1e-3
    assert all(abs(tick / step - round(tick / step)) < 1e-3 for tick in found)


@given(st.floats(1e-9, 1e9), st.floats(4.001, 1e15))
def test_ticks_of_a_logarithmic_axis_are_round_and_few(low: float, factor: float) -> None:
    found = round_numbers(low, low * factor, log=True)
    assert 1 <= len(found) <= 11
    assert all(low <= tick <= low * factor for tick in found)
    assert {f"{tick:e}".split("e")[0] for tick in found} <= {"1.000000", "2.000000", "5.000000"}


@pytest.mark.parametrize(
    ("low", "high", "log", "marks"),
    [
        (0.0, 2.0, False, (0.0, 0.5, 1.0, 1.5, 2.0)),
        (-0.3, 0.3, False, (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)),
        (0.0, 0.013, False, (0.0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.012)),
        (1.0, 100.0, True, (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)),
        (1.0, 3.0, True, (1.0, 1.5, 2.0, 2.5, 3.0)),
        (3.0, 3.0, False, (3.0,)),
        (3.0, float("nan"), False, (3.0,)),
    ],
)
def test_numbers_of_an_axis(low: float, high: float, log: bool, marks: tuple[float, ...]) -> None:
    assert round_numbers(low, high, log=log) == pytest.approx(marks)


@given(st.lists(MEASURED, max_size=6), st.booleans(), st.booleans())
def test_every_value_lies_on_the_axis_that_was_made_for_it(
    values: list[float], log: bool, zero: bool
) -> None:
    axis = spread(values, "x", log=log, zero=zero)
    assert axis.low < axis.high
    for value in values:
        if math.isfinite(value) and (value > 0 or not log):
            assert axis.low <= value <= axis.high
    known = [value for value in values if math.isfinite(value)]
    assert log or not zero or min(known, default=0.0) < 0 or axis.low == 0.0


def test_shares_are_written_as_percentages_and_names_as_names() -> None:
    axis = Axis(0, 1, ticks=(0, 0.5, 1), percent=True)
    assert axis.marks() == [(0, "0%"), (0.5, "50%"), (1, "100%")]
    assert rows(["a", "b" * 40]).marks() == [(0.0, "a"), (1.0, "b" * 21 + "…")]


@given(st.tuples(NUMBERS, NUMBERS), st.booleans())
def test_nothing_lies_outside_of_the_frame(point: Point, log: bool) -> None:
    chart = Chart(Axis(0.5, 4, log=log), Axis(0, 1), "frame", size=(300.0, 200.0))
    x, y = chart.at(point)
    (left, floor), (right, ceiling) = chart.at((0.5, 0)), chart.at((4, 1))
    assert left <= x <= right
    assert ceiling <= y <= floor


def everything(text: str) -> Chart:
    """A chart with `text` wherever a chart takes text."""
    chart = Chart(Axis(0, 1, text), rows([text, text]), text)
    chart.band(0.2, 0.4, text=text)
    chart.level(0.5, text, kind="tone-good")
    chart.line([(0, 0), (1, 1)], kind="s0")
    chart.area([(0, 0), (1, 0)], [(0, 1), (1, 1)], kind="s1")
    chart.interval((0.1, 0), (0.1, 1), kind="s0")
    chart.point((0.5, 0.5), text, kind="s0", label=text)
    chart.point((0.5, 9.0), text, kind="s0", shape="cross", label=text)
    return chart


@given(HOSTILE)
def test_every_text_of_a_chart_is_escaped(text: str) -> None:
    plain, drawn = (ElementTree.fromstring(everything(one).svg()) for one in ("a", text))
    assert [item.tag for item in drawn.iter()] == [item.tag for item in plain.iter()]
    assert [sorted(item.keys()) for item in drawn.iter()] == [
        sorted(item.keys()) for item in plain.iter()
    ]
    said = "".join(drawn.itertext()) + drawn.attrib["aria-label"]
    assert not set(said) & {"\x1b", "\u202e"}


def test_labels_do_not_cover_each_other() -> None:
    chart = Chart(Axis(0, 1, "x"), Axis(0, 1, "y"), "many")
    for place in range(8):
        chart.point((0.5, 0.5 + place / 1000), "one", kind="s0", label=f"arm {place}")
    chart.level(0.5, "level " * 10, kind="s0")
    heights = sorted(
        float(y)
        for y in re.findall(r'class="beside s0(?: end)?" x="[\d.]+" y="([\d.]+)"', chart.svg())
    )
    assert len(heights) == 9
    assert min(b - a for a, b in pairwise(heights)) >= 14


def test_a_value_above_the_frame_stands_at_its_edge_with_its_number() -> None:
    chart = Chart(Axis(0, 1), Axis(0, 1), "high")
    chart.point((0.5, 9.9), "far", kind="s0")
    assert "9.9 ↑" in chart.svg()
    chart.level(2.0, "nowhere", kind="s0")
    assert "nowhere" not in chart.svg()


def test_labels_do_not_cover_marks() -> None:
    chart = Chart(Axis(0, 1, "x"), Axis(0, 1, "y"), "two")
    chart.point((0.5, 0.5), "one", kind="s0", label="a long label")
    chart.point((0.53, 0.5), "two", kind="s1")
    up = re.search(r'class="beside s0" x="[\d.]+" y="([\d.]+)"', chart.svg())
    assert up is not None
    assert not -5 < chart.at((0.53, 0.5))[1] - float(up[1]) + 5 < 9
