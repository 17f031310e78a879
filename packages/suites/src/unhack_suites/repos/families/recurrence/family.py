"""Recurrence: arithmetic of dates, rules of repetition, plans with exceptions."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="DateError PlanError CalendarError", occurrences="occurrences repeats dates_of",
        sign="- / .", limit="24 30 40", horizon="14 18 21",
        workdays="workday business_day office_day", holidays="holidays closed free",
        add="add plan enter", skip="skip leave_out drop", move="move shift_to put_on",
        free="free first_free gap_of", subject="rehearsals inspections deliveries shifts",
    )  # fmt: skip
    words["package"] = draw_name(rng, "dates plan calendar days")
    words["summary"] = f"Plans {words['subject']} and other things that happen again and again."
    words["purpose"] = f"to plan {words['subject']}"
    return words


def _date(rng: Random) -> tuple[int, int, int]:
    return (rng.randrange(1970, 2060), rng.randrange(1, 13), rng.randrange(1, 29))


def _dates(rng: Random, w: Words) -> Cases:
    one, two = _date(rng), _date(rng)
    sign = w.sign
    case = Topic("dates").case
    yield case(
        "days_are_added_over_months", "Days are added and taken away over the ends of months.",
        f"? add_days({one}, {rng.randrange(20, 90)})",
        f"? add_days({two}, -{rng.randrange(30, 400)})", f"? add_days({(one[0], 12, 31)}, 1)",
        f"? add_days({(two[0], 3, 1)}, -1)",
    )  # fmt: skip
    century = rng.choice((1900, 2000, 2100))
    yield case(
        "leap_years_are_known",
        "Leap years have a 29th of February; of full centuries every fourth.",
        f"? days_between(({century}, 2, {rng.randrange(1, 28)}), ({century}, 3, "
        f"{rng.randrange(1, 9)}))",
        f"? add_days(({2000 + 4 * rng.randrange(1, 20)}, 2, 28), 1)",
        f"? parse_date('{century}{sign}02{sign}29')",
    )  # fmt: skip
    yield case(
        "days_between_are_counted", "`days_between` is negative where the second date is earlier.",
        f"? days_between({one}, {two})", f"? days_between({two}, {one})",
        f"? days_between({one}, {(one[0] + 1, one[1], one[2])})",
    )  # fmt: skip
    yield case(
        "weekdays_have_names", "`weekday` names the day, `mon` to `sun`.", f"? weekday({one})",
        f"? weekday({two})", f"? weekday(add_days({two}, 1))",
    )  # fmt: skip
    yield case(
        "texts_become_dates", f"Texts are read and shown as `year{sign}month{sign}day`.",
        f"? parse_date('{one[0]}{sign}{one[1]}{sign}{one[2]}')", f"? show_date({two})",
        f"? show_date({(one[0], 3, 7)}, '_')", f"? parse_date('{two[0]}:{two[1]}:{two[2]}', ':')",
    )  # fmt: skip
    yield case(
        "impossible_dates_are_refused", f"Texts that are no date raise `{w.Error}`.",
        f"? parse_date('{one[0]}{sign}13{sign}{one[2]}')",
        f"? parse_date('{one[0]}{sign}4{sign}31')", f"? parse_date('{two[0]}{sign}{two[1]}')",
        f"? parse_date('{two[0]}{sign}x{sign}1')", f"? parse_date('{one[0]}{sign}0{sign}{one[2]}')",
    )  # fmt: skip


def _rules(rng: Random, w: Words) -> Cases:
    call, start = w.occurrences, _date(rng)
    step = rng.randrange(2, 6)
    days = sorted(rng.sample(_DAYS, 2), key=_DAYS.index)
    case = Topic("rules").case
    yield case(
        "days_repeat_in_steps", "`every` `day` repeats every `step` days, 1 unless it is told.",
        f"? {call}({start}, {{'every': 'day', 'step': {step}}}, 4)",
        f"? {call}({start}, {{'every': 'day'}}, count=3)",
    )  # fmt: skip
    yield case(
        "weeks_repeat_on_days",
        "`every` `week` repeats on the days in `on`, or on that of the start; with a `step`, "
        "whole "
        "weeks from Monday to Sunday are left out.",
        f"? {call}({start}, {{'every': 'week', 'on': {days}}}, 5)",
        f"? {call}({start}, {{'every': 'week', 'step': {step}, 'on': {days}}}, 5)",
        f"? {call}({start}, {{'every': 'week'}}, 3)",
    )  # fmt: skip
    year, month = start[0], rng.randrange(1, 13)
    yield case(
        "months_without_the_day_are_left_out",
        "`every` `month` repeats on `day`; months that lack it are left out.",
        f"? {call}(({year}, {month}, 31), {{'every': 'month'}}, 4)",
        f"? {call}(({year}, {month}, 5), {{'every': 'month', 'day': {rng.choice((29, 30))}}}, 4)",
        f"? {call}({start}, {{'every': 'month', 'step': {step}}}, 4)",
    )  # fmt: skip
    yield case(
        "negative_days_count_from_the_end", "A negative `day` counts from the end of the month.",
        f"? {call}({start}, {{'every': 'month', 'day': -1}}, 4)",
        f"? {call}({start}, {{'every': 'month', 'day': -{rng.randrange(2, 9)}, 'step': {step}}}, "
        "3)",
    )  # fmt: skip


def _bounds(rng: Random, w: Words) -> Cases:
    call, start = w.occurrences, _date(rng)
    step = rng.randrange(2, 6)
    case = Topic("rules").case
    yield case(
        "nothing_comes_after_the_last_day",
        "`until` is the last day that counts, `count` the most dates.",
        f"? {call}({start}, {{'every': 'day', 'step': {step}}}, until=add_days({start}, "
        f"{2 * step}))",
        f"? {call}({start}, {{'every': 'day'}}, count={step}, until=add_days({start}, 30))",
        f"? {call}({start}, {{'every': 'month'}}, until=add_days({start}, -1))",
        f"? len({call}({start}, {{'every': 'day', 'step': {step}}}))",
    )  # fmt: skip
    yield case(
        "senseless_rules_are_refused", f"Unknown units and steps below 1 raise `{w.Error}`.",
        f"? {call}({start}, {{'every': 'moon'}}, 2)",
        f"? {call}({start}, {{'every': 'day', 'step': 0}}, 2)", f"? {call}({start}, {{}}, {step})",
        f"? {call}(({start[0]}, 2, 30), {{'every': 'day'}}, {step})",
    )  # fmt: skip
    closed = rng.randrange(1, 5)
    yield case(
        f"a_{w.workdays}_is_no_weekend",
        f"`every` `{w.workdays}` counts days from Monday to Friday that `{w.holidays}` does not "
        "list.",
        f"? {call}({start}, {{'every': '{w.workdays}'}}, 6)",
        f"? {call}({start}, {{'every': '{w.workdays}', 'step': {step}}}, 4)",
        f"? {call}({start}, {{'every': '{w.workdays}', '{w.holidays}': [add_days({start}, "
        f"{closed}), "
        f"add_days({start}, {closed + 1})]}}, 5)",
        needs="workdays",
    )  # fmt: skip


def _plans(rng: Random, w: Words) -> Cases:
    start = (rng.randrange(1980, 2050), rng.randrange(1, 13), rng.randrange(1, 20))
    a, b = rng.sample(("choir", "audit", "bins", "yoga", "market"), 2)
    step = rng.randrange(2, 5)
    fill = (
        "plan = Plan()", f"plan.{w.add}('{a}', {start}, every='day', step={step})",
        f"plan.{w.add}('{b}', add_days({start}, 2), every='week')",
    )  # fmt: skip
    case = Topic("plans", fill).case
    yield case(
        "names_have_their_dates", "`dates` lists a name's dates up to a day, which is included.",
        f"? plan.dates('{a}', add_days({start}, {3 * step}))",
        f"? plan.dates('{b}', add_days({start}, 16))", f"? plan.dates('{b}', {start})",
    )  # fmt: skip
    yield case(
        "a_range_has_everything_in_order",
        "`between` lists dates and names in order, both ends included.",
        f"? plan.between({start}, add_days({start}, 9))",
        f"? plan.between(add_days({start}, {step}), add_days({start}, {2 * step}))",
    )  # fmt: skip
    yield case(
        "skipped_dates_are_left_out", "A skipped date is left out, for that name only.",
        f"plan.{w.skip}('{a}', add_days({start}, {step}))",
        f"? plan.dates('{a}', add_days({start}, 12))",
        f"plan.{w.skip}('{b}', add_days({start}, {2 * step}))",
        f"? plan.between({start}, add_days({start}, 9))",
    )  # fmt: skip
    yield case(
        "names_count_once", f"A name that is taken, or unknown, raises `{w.Error}`.",
        f"? plan.{w.add}('{a}', {start}, every='day')", f"? plan.dates('{a}{b}', {start})",
        f"? plan.{w.skip}('no {b}', {start})", f"? plan.dates('{a}', add_days({start}, {step}))",
    )  # fmt: skip
    yield case(
        "free_days_are_found",
        f"`{w.free}` finds the first day that begins enough days without anything, at "
        f"most {w.horizon} days ahead; else it raises `{w.Error}`.",
        f"? plan.{w.free}({start}, 1)", f"? plan.{w.free}({start}, {step - 1})",
        f"? plan.{w.free}(add_days({start}, -{step}), {step})",
        f"? plan.{w.free}({start}, {step + 1})",
    )  # fmt: skip


def _moves(rng: Random, w: Words) -> Cases:
    start = (rng.randrange(1980, 2050), rng.randrange(1, 13), rng.randrange(1, 20))
    step, by = rng.randrange(3, 6), rng.randrange(7, 9)
    fill = (
        "plan = Plan()", f"plan.{w.add}('one', {start}, every='day', step={step})",
        f"plan.{w.add}('two', {start}, every='day', step={step})",
        f"plan.{w.move}('one', add_days({start}, {step}), add_days({start}, {by}))",
    )  # fmt: skip
    case = Topic("moves", fill, needs="moves").case
    yield case(
        "a_moved_date_stands_elsewhere",
        f"`{w.move}` puts one date of a name on another day; the list stays in order.",
        f"? plan.dates('one', add_days({start}, {3 * step}))",
        f"? plan.between({start}, add_days({start}, {2 * step}))",
    )  # fmt: skip
    yield case(
        "only_known_names_can_be_moved", f"Moving an unknown name raises `{w.Error}`.",
        f"? plan.{w.move}('three', {start}, add_days({start}, {by}))",
        f"? plan.{w.move}('two', {start}, ({start[0]}, 13, {step}))",
        f"? plan.dates('two', add_days({start}, {2 * step}))",
    )  # fmt: skip


FAMILY = PackageFamily(
    "recurrence", Path(__file__).parent, _words, (_dates, _rules, _bounds, _plans, _moves),
    (
        Feature(
            "workdays", "working days",
            "Rules should know working days: a unit `$workdays` for `every`. It counts the days "
            "from Monday to Friday that are not listed in the rule's `$holidays` (a list of "
            "dates, "
            "empty unless given). With a `step`, only every `step`-th of these days is a date, "
            "the "
            "first working day from the start on being one of them.",
        ),
        Feature(
            "moves", "moved dates",
            "Sometimes a single date has to take place on another day. Please add "
            "`Plan.$move(name, date, to)`: the name's date `date` then stands on the day `to`, in "
            "`dates` as well as in `between`, whose results stay in order. An unknown name raises "
            "`$Error`, and so does a `to` that is no date. Skipped dates stay skipped.",
        ),
    ),
)  # fmt: skip
