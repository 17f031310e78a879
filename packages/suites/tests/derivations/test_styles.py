"""Styles in which models write derivations: right ones are paid, the first wrong line is named."""

from __future__ import annotations

import pytest

from unhack_suites.derivations.checker import check_derivation
from unhack_suites.derivations.reading.notation import Spelling, plain
from unhack_suites.derivations.reading.units import amount_of
from unhack_suites.derivations.report import LineStatus

RIGHT = {
    "labels with numbers": ("A price of 500 falls by 2% a day for 2 days. What is it?", "480.2",
        "Day 1: 500 × 0.98 = 490\nDay 2: 490 × 0.98 = 480.2"),
    "units with spaces of LaTeX": ("What is the area of a square of side 7 cm?", "49",
        "$A = 7^2 = 49\\,\\text{cm}^2$\nHence the area is $49\\,\\text{cm}^2$."),
    "a change of units in a chain": ("A tap drips 5 mL every 10 s. How many litres a day?", "43.2",
        "1 day = 24 × 60 × 60 = 86,400 seconds\n86,400 ÷ 10 = 8,640 drips\n"
        "8,640 × 5 mL = 43,200 mL = 43.2 L"),
    "things and money": ("She sells 9 of her eggs at $2 each. What does she get?", "18",
        "Revenue: 9 eggs × $2/egg = $18"),
    "rows of a table": ("Flour: 450 g for 6 people. How much for 10?", "750",
        "| People | Flour |\n|---|---|\n| 1 | 450 ÷ 6 = 75 g |\n| 10 | 75 × 10 = 750 g |"),
    "names with an index": ("Find the 20th term of 7, 11, 15, ...", "83",
        "$a_1 = 7$, $d = 11 - 7 = 4$\n$a_{20} = a_1 + 19d = 7 + 76 = 83$"),
    "angles": ("In a triangle, angle A = 50° and angle B = 60°. How large is angle C?", "70",
        "∠A + ∠B + ∠C = 180°\n110° + ∠C = 180°\n∠C = 70°"),
    "times of a day": ("A film starts at 19:45 and lasts 98 minutes. When does it end?", "21:23",
        "19:45 + 15 min = 20:00\n98 min − 15 min = 83 min\n20:00 + 83 min = 21:23"),
    "an inequality": ("What is the smallest integer x with 5 - 3x < 20?", "-4",
        "−3x < 15\nx > −5\nThe smallest integer is −4."),
    "cases": ("What is the sum of the solutions of |2x - 7| = 9?", "7",
        "2x − 7 = 9 or 2x − 7 = −9\nCase 1: 2x = 16, so x = 8.\nCase 2: 2x = −2, so x = −1.\n"
        "8 + (−1) = 7"),
    "the positive root": ("A garden is 3 m longer than wide and has 70 m². How wide is it?", "7",
        "w(w + 3) = 70\nw² + 3w − 70 = 0\nw = 7 (the solution w = −10 is rejected)"),
    "functions of numbers": ("What is log_2(32) + gcd(84, 126)?", "47",
        "log₂(32) = 5\ngcd(84, 126) = 42\n5 + 42 = 47"),
    "an answer in words": ("March 3 is a Tuesday. Which day of the week is April 10?", "Friday",
        "28 + 10 = 38\n38 = 5 · 7 + 3\nThree days after Tuesday is Friday."),
    "the last step in the head": ("Three consecutive odd numbers add to 87. The largest?", "31",
        "The numbers are n, n + 2 and n + 4.\n3n + 6 = 87\n3n = 81\nn = 27\n"
        "They are 27, 29 and 31, so the largest is 31."),
}  # fmt: skip

WRONG = {
    "a unit of volume": ("How many litres are 75 m³?", "75000", 1, "75 m³ = 7,500 L"),
    "a unit of length": ("How many km are 400,000 cm?", "4", 2,
        "400,000 cm = 4,000 m\n4,000 m = 40 km"),
    "a factor of another unit": ("45 mi/h in ft/s? (1 mi = 5280 ft)", "66", 2,
        "45 mi/h × 5,280 ft/mi = 237,600 ft/h\n237,600 ft/h ÷ 60 = 3,960 ft/s"),
    "a time": ("A bus leaves at 9:50 and takes 85 minutes. When does it arrive?", "11:15", 2,
        "9:50 + 1 h = 10:50\n10:50 + 25 min = 11:25\nIt arrives at 11:25."),
    "a sign not turned": ("How many integers from -9 to 9 have 4 - 2x > 11?", "6", 2,
        "−2x > 7\nx > −3.5"),
    "a sine": ("How high is a kite on 50 m of string at 30°?", "25", 2,
        "h = 50 · sin 30°\nsin 30° = √3/2 ≈ 0.866\nh ≈ 43.3 m"),
    "a divisor in words": ("Cut 96 cm and 72 cm into longest equal pieces. How long?", "24", 1,
        "The greatest common divisor of 96 and 72 is 12."),
    "a sum in words": ("What is the average of 10, 20 and 60?", "30", 1,
        "The sum of 10, 20 and 60 is 80.\n90 / 3 = 30"),
    "the wrong pick": ("A prize of 960 is shared 3 : 5 : 4. The largest share?", "400", 3,
        "960 / 12 = 80\n5 · 80 = 400\nThe shares are 240, 400 and 320, so the largest is 320."),
    "not rounded up": ("130 pupils, 48 in a bus. How many buses?", "3", 0, "130 / 48 ≈ 2.71"),
    "a fact that nothing leads to": ("What is the sum of 1 to 100?", "5050", 2,
        "1 + 2 = 3\nSo the sum is 5050."),
    "a sum invented in words": ("x + 3 = 6. What is 17?", "17", 3,
        "x = 3\nNow look at x + 14.\nThe answer is 17."),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_derivation_is_paid_in_the_style_that_models_write(name: str) -> None:
    statement, answer, text = RIGHT[name]
    report = check_derivation(statement, text, answer=answer)
    assert (report.first_wrong, report.payable) == (None, 1.0), report.lines


@pytest.mark.parametrize("name", WRONG)
def test_a_flawed_derivation_is_not_paid_in_full_and_its_line_is_named(name: str) -> None:
    statement, answer, line, text = WRONG[name]
    report = check_derivation(statement, text, answer=answer)
    found = report.first_wrong.number if report.first_wrong else 0
    assert found == line, report.lines
    assert report.payable < 1.0


def test_a_function_that_is_not_read_makes_no_equality_of_its_rest() -> None:
    report = check_derivation("Solve log x + log 5 = 2.", "log x + log 5 = 2", answer="20")
    assert [line.status for line in report.lines] == [LineStatus.UNREAD]


def test_units_are_kept_beside_their_numbers() -> None:
    marked = plain("90 km/h, 3t, $5 per kg, 2 square metres", Spelling())
    assert marked == "90⟦km/h⟧, 3t, 5⟦USD/kg⟧, 2⟦metres^2⟧"
    speed, other = amount_of("90⟦km/h⟧"), amount_of("25⟦m/s⟧")
    assert speed is not None
    assert other is not None
    assert (speed.factor, speed.dimensions) == (other.factor, other.dimensions)
    assert amount_of("2⟦m⟧ + 3⟦s⟧") is None
