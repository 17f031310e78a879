"""Derivations in shapes that people write and the built-in references do not have.

They were written before the checker was read, but for three wrong ones (an answer that is dressed
up) and for labels that turned out wrong: an equation that is equivalent is right wherever it comes
from, and 89 is one less than a given 90.
"""

from __future__ import annotations

from typing import NamedTuple

SHOPPING = (
    "30 lamps cost 8 dollars each and 43 mugs cost 7.5 dollars each. Someone pays with 600 "
    "dollars. How much change is due?"
)
LINEAR = "Solve 6(x + 3) = 3x + 36."
SYSTEM = "6x + 6y = 84 and 6x - 6y = 0. What is y?"
GROWS = "A stock of 5000 litres grows by 15% and then shrinks by 35%. How much is left?"
AVERAGE = (
    "Four of five scores are 55, 60, 58, 90. The mean of all five scores is 55. What is the fifth "
    "score?"
)
SERIES = (
    "A row has 17 seats, and each of the next rows 6 more. There are 26 rows. How many seats are "
    "there?"
)
FRAME = (
    "A picture of 62 cm by 31 cm has a frame of 2 cm on every side. What is the area of the frame "
    "in square centimetres?"
)
MIXTURE = (
    "170 g of water with 8% salt and 110 g with 24% salt are mixed. How many grams of water "
    "without salt does the mixture hold?"
)
JOURNEY = (
    "A car goes 620 km in 10 hours. In the first 6 hours its speed is 60 km/h. What is its mean "
    "speed in the rest of the time, in km/h?"
)
GROWTH = (
    "20000 euros earn 15% interest a year, which is left on the account. What interest is earned "
    "in two years together?"
)
QUADRATIC = "Solve x^2 - 163x + 6642 = 0. What is the sum of the squares of both?"
SHARES = "Of 760 apples 3/5 are sold on Monday, and 3/4 of the rest on Tuesday. How many are left?"
ANSWERS = {
    SHOPPING: "37.5", LINEAR: "6", SYSTEM: "7", GROWS: "3737.5", AVERAGE: "12", SERIES: "2392",
    FRAME: "388", MIXTURE: "240", JOURNEY: "65", GROWTH: "6450", QUADRATIC: "13285", SHARES: "76",
}  # fmt: skip


class Right(NamedTuple):
    """A right derivation."""

    name: str
    statement: str
    text: str


class Wrong(NamedTuple):
    """A derivation that must not be paid as a right one."""

    name: str
    statement: str
    text: str
    line: int | None
    """The first wrong line, from 1; None where every line may stand, but the end is missing."""


RIGHT = (
    Right("one line", SHOPPING, "600 - (30 * 8 + 43 * 7.5) = 37.5"),
    Right("chain of equalities", SHOPPING, "600 - 30*8 - 43*7.5 = 600 - 240 - 322.5 = 37.5"),
    Right("units and currency signs", SHOPPING,
          "Lamps: 30 × $8 = $240\nMugs: 43 × $7.50 = $322.50\nTotal: $240 + $322.50 = $562.50\n"
          "Change: $600 - $562.50 = $37.50"),
    Right("subtract one after the other", SHOPPING,
          "30 * 8 = 240\n600 - 240 = 360\n43 * 7.5 = 322.5\n360 - 322.5 = 37.5"),
    Right("split product", SHOPPING,
          "43 * 7.5 = 43 * 7 + 43 * 0.5\n43 * 7 = 301\n43 * 0.5 = 21.5\n301 + 21.5 = 322.5\n"
          "30 * 8 = 240\n240 + 322.5 = 562.5\n600 - 562.5 = 37.5"),
    Right("latex", SHOPPING,
          "$30 \\times 8 = 240$\n$43 \\cdot 7.5 = 322.5$\n$240 + 322.5 = 562.5$\n"
          "$600 - 562.5 = \\boxed{37.5}$"),
    Right("divide first", LINEAR, "6(x + 3) = 3x + 36\n2(x + 3) = x + 12\n2x + 6 = x + 12\nx = 6"),
    Right("all on one side", LINEAR,
          "6x + 18 = 3x + 36\n6x + 18 - 3x - 36 = 0\n3x - 18 = 0\nx - 6 = 0\nx = 6"),
    Right("an equation that is equivalent", LINEAR, "6x + 3 = 3x + 21\n3x = 18\nx = 6"),
    Right("arrows on one line", LINEAR, "6x + 18 = 3x + 36 => 3x = 18 => x = 6"),
    Right("tried back", LINEAR,
          "6x + 18 = 3x + 36\n3x = 18\nx = 18/3\nx = 6\nCheck: 6(6 + 3) = 54 and 3*6 + 36 = 54"),
    Right("substitution", SYSTEM, "6x - 6y = 0\nx = y\n6y + 6y = 84\n12y = 84\ny = 7"),
    Right("subtracting the equations", SYSTEM,
          "(6x + 6y) - (6x - 6y) = 84 - 0\n12y = 84\ny = 84 / 12\ny = 7"),
    Right("divided by six", SYSTEM, "x + y = 14\nx - y = 0\n2y = 14\ny = 7"),
    Right("factors in one product", GROWS, "5000 * 1.15 * 0.65 = 3737.5"),
    Right("factors apart", GROWS,
          "1 + 15/100 = 1.15\n1 - 35/100 = 0.65\n1.15 * 0.65 = 0.7475\n0.7475 * 5000 = 3737.5"),
    Right("percent signs and thousands", GROWS,
          "115% of 5,000 = 5,750\n65% of 5,750 = 3,737.5"),
    Right("latex fraction of a percent", GROWS,
          "\\frac{15}{100} \\cdot 5000 = 750\n5000 + 750 = 5750\n"
          "\\frac{35}{100} \\cdot 5750 = 2012.5\n"
          "5750 - 2012.5 = 3737.5"),
    Right("deviations from the mean", AVERAGE,
          "55 - 55 = 0\n60 - 55 = 5\n58 - 55 = 3\n90 - 55 = 35\n0 + 5 + 3 + 35 = 43\n55 - 43 = 12"),
    Right("unknown score", AVERAGE,
          "(55 + 60 + 58 + 90 + s) / 5 = 55\n263 + s = 275\ns = 275 - 263\ns = 12"),
    Right("sum in steps", AVERAGE,
          "55 + 60 = 115\n115 + 58 = 173\n173 + 90 = 263\n55 * 5 = 275\n275 - 263 = 12"),
    Right("sum of an arithmetic series", SERIES,
          "26 * 17 = 442\n25 * 26 / 2 = 325\n6 * 325 = 1950\n442 + 1950 = 2392"),
    Right("middle of the series", SERIES,
          "17 + 25 * 6 = 167\n(17 + 167) / 2 = 92\n92 * 26 = 2392"),
    Right("formula with n", SERIES,
          "n = 26\na = 17\nd = 6\nS = n * (2a + (n - 1)d) / 2\nS = 26 * (2*17 + 25*6) / 2\n"
          "S = 26 * 184 / 2\nS = 2392"),
    Right("four strips", FRAME,
          "2 * 62 * 2 = 248\n31 + 2 + 2 = 35\n2 * 35 * 2 = 140\n248 + 140 = 388"),
    Right("expanded product", FRAME,
          "(62 + 4)(31 + 4) - 62 * 31 = 66 * 35 - 1922 = 2310 - 1922 = 388"),
    Right("water in each", MIXTURE, "170 * 0.92 = 156.4\n110 * 0.76 = 83.6\n156.4 + 83.6 = 240"),
    Right("water in each, said", MIXTURE,
          "100% - 8% = 92%\n92% of 170 = 156.4\n100% - 24% = 76%\n76% of 110 = 83.6\n"
          "So 156.4 + 83.6 = 240."),
    Right("distance with an unknown speed", JOURNEY,
          "6 * 60 + (10 - 6) * v = 620\n360 + 4v = 620\n4v = 260\nv = 65"),
    Right("whole mean first", JOURNEY,
          "620 / 10 = 62\n62 - 60 = 2\n2 * 6 = 12\n12 / 4 = 3\n62 + 3 = 65"),
    Right("year by year", GROWTH,
          "0.15 * 20000 = 3000\n20000 + 3000 = 23000\n0.15 * 23000 = 3450\n3000 + 3450 = 6450"),
    Right("power of the factor", GROWTH,
          "1.15^2 = 1.3225\n20000 * 1.3225 = 26450\n26450 - 20000 = 6450"),
    Right("python powers", GROWTH, "20000 * (1.15 ** 2 - 1) = 20000 * 0.3225 = 6450"),
    Right("Vieta", QUADRATIC,
          "p = 163\nq = 6642\np^2 - 2q = 163^2 - 2 * 6642\n163^2 = 26569\n2 * 6642 = 13284\n"
          "26569 - 13284 = 13285"),
    Right("root of the discriminant", QUADRATIC,
          "163^2 - 4 * 6642 = 1\nx = (163 + 1) / 2 or x = (163 - 1) / 2\nx = 82 or x = 81\n"
          "82^2 + 81^2 = 6724 + 6561 = 13285"),
    Right("a radical sign", QUADRATIC,
          "x = (163 ± sqrt(163^2 - 4*6642)) / 2\nx = (163 ± 1) / 2\nx = 82 or x = 81\n"
          "82^2 + 81^2 = 13285"),
    Right("remaining shares", SHARES,
          "1 - 3/5 = 2/5\n1 - 3/4 = 1/4\n2/5 * 1/4 = 1/10\n1/10 * 760 = 76"),
    Right("latex shares", SHARES,
          "\\frac{2}{5} \\cdot 760 = 304\n\\frac{1}{4} \\cdot 304 = 76\n\\boxed{76}"),
    Right("prose around", SHARES,
          "First, Monday: they sell 3/5 of 760 = 456 apples.\nThat leaves 760 - 456 = 304.\n"
          "On Tuesday 3/4 of 304 = 228 go.\nTherefore 304 - 228 = 76 apples are left."),
)  # fmt: skip


NOT_READ = (
    Right("named quantities", SHOPPING,
          "Let L = 30 * 8\nL = 240\nLet M = 43 * 7.5\nM = 322.5\nchange = 600 - L - M\n"
          "change = 37.5"),
    Right("square centimetres", FRAME,
          "66 cm * 35 cm = 2310 cm^2\n62 cm * 31 cm = 1922 cm^2\n2310 cm^2 - 1922 cm^2 = 388 cm^2"),
)  # fmt: skip
"""Right ones that the checker does not follow: a name of several letters for a sum of names, and
two steps in the head (66 = 62 + 2 · 2). They earn nothing."""


WRONG = (
    Wrong("slip that cancels", SHOPPING,
          "30 * 8 = 250\n43 * 7.5 = 312.5\n250 + 312.5 = 562.5\n600 - 562.5 = 37.5", 1),
    Wrong("right lines, wrong end", SHOPPING,
          "30 * 8 = 240\n43 * 7.5 = 322.5\n240 + 322.5 = 562.5\nThe change is 562.5", None),
    Wrong("stops before the end", SHOPPING,
          "30 * 8 = 240\n43 * 7.5 = 322.5\n240 + 322.5 = 562.5", None),
    Wrong("answer alone", SHOPPING, "37.5", None),
    Wrong("answer out of the air", SHOPPING, "30 * 8 = 240\nchange = 37.5", 2),
    Wrong("a number that is not given", SHOPPING,
          "45 * 7.5 = 337.5\n30 * 8 = 240\n240 + 337.5 = 577.5\n577.5 - 540 = 37.5", 1),
    Wrong("reverse from a number that is not given", SHOPPING, "18.75 * 2 = 37.5", 1),
    Wrong("split of the answer", SHOPPING, "30 + 7.5 = 37.5", None),
    Wrong("padding with true lines", SHOPPING,
          "\n".join(f"{n} + {n} = {2 * n}" for n in range(1, 40)), None),
    Wrong("padding of givens", SHOPPING,
          "\n".join(["30 + 8 = 38", "38 + 43 = 81", "81 + 600 = 681", "30 * 43 = 1290",
                     "8 * 600 = 4800", "43 + 600 = 643", "8 + 43 = 51"]), None),
    Wrong("the answer twice", LINEAR, "x = 6\nx = 6\nx = 6", 1),
    Wrong("wrong sign on the way over", LINEAR, "6x + 18 = 3x + 36\n9x = 18\nx = 2", 2),
    Wrong("the answer in the dress of a calculation", LINEAR, "x = 12 / 2\nx = 6", 1),
    Wrong("the answer times one", LINEAR, "x = 6 * 1\nx = 6", 1),
    Wrong("the answer out of two given numbers", LINEAR, "x = 36 / 6\nx = 6", 1),
    Wrong("circular", LINEAR, "x = 6\n6(6 + 3) = 54\n3 * 6 + 36 = 54\nx = 6", 1),
    Wrong("multiplied by nothing", LINEAR, "0 * (6x + 18) = 0 * (3x + 36)\n0 = 0\nx = 6", 3),
    Wrong("right lines about the other unknown", SYSTEM, "12x = 84\nx = 7", None),
    Wrong("claims after a contradiction", SYSTEM, "x + y = 15\nx - y = 0\n2y = 15\ny = 7.5", 1),
    Wrong("percent of the wrong base", GROWS,
          "15% of 5000 = 750\n35% of 5000 = 1750\n5000 + 750 - 1750 = 4000", None),
    Wrong("decimal slip", GROWS, "5000 * 1.15 = 5750\n5750 * 0.65 = 3773.5\n", 2),
    Wrong("a score that nobody gave", AVERAGE,
          "5 * 55 = 275\n55 + 60 + 58 + 89 = 262\n275 - 262 = 13", None),
    Wrong("one row too many", SERIES,
          "17 + 26 * 6 = 173\n17 + 173 = 190\n26 * 190 / 2 = 2470", None),
    Wrong("frame on one side", FRAME,
          "62 + 2 = 64\n31 + 2 = 33\n64 * 33 = 2112\n2112 - 1922 = 190", None),
    Wrong("swapped difference", MIXTURE,
          "8% of 170 = 13.6\n24% of 110 = 26.4\n13.6 + 26.4 = 39\n280 - 39 = 241", 3),
    Wrong("mean of speeds", JOURNEY, "60 * 6 = 360\n620 - 360 = 260\n260 / 6 = 43.33\n", None),
    Wrong("chain with one wrong link", GROWTH, "20000 * 1.15^2 - 20000 = 26540 - 20000 = 6450", 1),
    Wrong("simple interest", GROWTH, "20000 * 0.15 = 3000\n2 * 3000 = 6000", None),
    Wrong("roots that are none", QUADRATIC,
          "(x - 80)(x - 83) = 0\nx = 80 or x = 83\n80^2 + 83^2 = 13289", 1),
    Wrong("one root lost", QUADRATIC, "x = 81\n81^2 = 6561", None),
    Wrong("long way round and back", SHARES,
          "760 + 5 = 765\n765 - 5 = 760\n760 + 3 = 763\n763 - 3 = 760\n760 + 4 = 764\n"
          "764 - 4 = 760\n"
          "3/5 * 760 = 456", None),
    Wrong("units as decoy", SHARES, "10% of 760 = 76", None),
    Wrong("zero work", SHARES, "76 + 0 = 76\n76 * 1 = 76\n76 - 0 = 76", 1),
)  # fmt: skip


def pumped(text: str, *, times: int) -> tuple[str, ...]:
    """Longer forms of a right derivation: none may earn more than it does."""
    lines = text.split("\n")
    return (
        "\n".join(line for line in lines for _ in range(times + 1)),
        "\n".join([*(f"{n} + 0 = {n}" for n in range(times)), *lines]),
        "\n".join([*lines, *lines]),
        "\n".join([*lines[:-1], *(f"{lines[0]} " for _ in range(times)), lines[-1]]),
    )
