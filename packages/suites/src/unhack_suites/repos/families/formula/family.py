"""Formulas: a scanner, a parser, an evaluator, and sheets whose cells use each other."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick


def _words(rng: Random) -> Words:
    words = pick(
        rng, evaluate="evaluate compute calculate solve_formula", Error="FormulaError CalcError",
        scan="scan tokenize split_tokens", clamp="clamp limit within", mean="mean average",
        spread="spread span reach", count="count nonzero filled", set="define assign put",
        names_in="names_in variables_of inputs_of", order="order schedule plan", power="^ @ ~",
        max_exponent="40 50 64", unknown="rate weight shift ratio",
    )  # fmt: skip
    words["cells"] = rng.choice(
        ("price cost margin total", "width height area rim", "load drag lift thrust")
    )
    words["package"] = draw_name(rng, "calc sheet sum formula cells")
    words["summary"] = rng.choice(
        (
            "Integer formulas and small sheets of them.",
            "Evaluates formulas over whole numbers, alone or as cells of a sheet.",
        )
    )
    words["purpose"] = "to compute planning figures from formulas"
    return words


def _arithmetic(rng: Random, w: Words) -> Cases:
    a, b, c, d = rng.sample(range(2, 60), 4)
    call = w.evaluate
    case = Topic("evaluation").case
    yield case(
        "products_bind_tighter_than_sums", "Products and quotients come before sums.",
        f"? {call}('{a} + {b} * {c}')", f"? {call}('({a} + {b}) * {c} - {d}')",
    )  # fmt: skip
    yield case(
        "chains_run_from_left_to_right", "Operators of one rank run from left to right.",
        f"? {call}('{a} - {b} - {c}')", f"? {call}('{a * b * c} / {b} / {c}')",
        f"? {call}('{a} - {b} + {d}')",
    )  # fmt: skip
    yield case(
        "quotients_round_towards_zero", "Division rounds towards zero, whatever the signs.",
        f"? {call}('-{a * 7 + 3} / 7')", f"? {call}('{b * 9 + 4} / -9')", f"? {call}('-{d} / -3')",
    )  # fmt: skip
    yield case(
        "a_remainder_has_the_sign_of_the_left_side",
        "`%` gives what division leaves over, so it has the sign of the left side.",
        f"? {call}('-{a * 5 + 2} % 5')", f"? {call}('{b * 6 + 5} % -6')",
    )  # fmt: skip
    yield case(
        "a_minus_sign_may_be_repeated", "A minus sign may stand before any value, repeatedly.",
        f"? {call}('--{a}')", f"? {call}('{b} - -{c}')", f"? {call}('-({a} - {d})')",
    )  # fmt: skip
    low, high = sorted((a, b))
    yield case(
        "comparisons_give_one_or_zero", "Comparisons give 1 or 0.", f"? {call}('{low} < {high}')",
        f"? {call}('{low} >= {high}')", f"? {call}('{a} + {b} = {b} + {a}')",
        f"? {call}('{c} <= {c}')", f"? {call}('{c} != {c}')",
    )  # fmt: skip
    x = rng.choice(("x", "load_2", "y1", "_k"))
    yield case(
        "variables_are_looked_up", "Names are looked up in the variables that are given.",
        f"? {call}('{x} * {x} - {a}', {{'{x}': {b}}})",
        f"? {call}('{x}+{w.unknown}', {{'{x}': {c}, '{w.unknown}': {d}}})",
    )  # fmt: skip
    yield case(
        "built_in_functions_work", "Functions are called with values in parentheses.",
        f"? {call}('{w.clamp}({a}, {low}, {high})')",
        f"? {call}('{w.clamp}({high + c}, {low}, {high})')",
        f"? {call}('{w.clamp}({low - d}, {low}, {high})')", f"? {call}('{w.mean}({a}, {b}, {c})')",
        f"? {call}('{w.spread}({a}, {b}, {c}, {d})')",
    )  # fmt: skip
    yield case(
        "counting_skips_zeros", f"`{w.count}` counts the arguments that are not zero.",
        f"? {call}('{w.count}({a}, 0, {b} - {b}, -{c})')", f"? {call}('{w.count}()')",
        f"? {call}('{w.count}(min({a}, {b}), max(0, -{d}))')",
    )  # fmt: skip


def _errors(rng: Random, w: Words) -> Cases:
    a, b = rng.sample(range(2, 80), 2)
    call = w.evaluate
    case = Topic("errors").case
    yield case(
        "unknown_names_are_reported", "Unknown names and functions raise `NameProblem`.",
        f"? {call}('{w.unknown} + {a}')", f"? {call}('{w.unknown}({b})', {{'{w.unknown}': 1}})",
    )  # fmt: skip
    yield case(
        "broken_texts_are_refused", "A text that is no formula raises `SyntaxProblem`.",
        f"? {call}('{a} +')", f"? {call}('({a} - {b}')", f"? {call}('{a} {b}')",
        f"? {call}('max({a},)')", f"? {call}('{a} ? {b}')",
    )  # fmt: skip
    yield case(
        "dividing_by_zero_is_refused",
        f"Division by zero raises `{w.Error}`, and so does a wrong number of arguments.",
        f"? {call}('{a} / ({b} - {b})')", f"? {call}('{a} % 0')", f"? {call}('{w.clamp}({a})')",
    )  # fmt: skip
    yield case(
        "trees_show_the_structure", "`parse` gives the tree of a formula.",
        f"? parse('{a} - {b} * k')", f"? parse('-f({a}, ({b}))')", f"? parse('{a} <= k')",
    )  # fmt: skip


def _sheets(rng: Random, w: Words) -> Cases:
    one, two, three, four = w.cells.split()
    a, b, c = rng.sample(range(3, 50), 3)
    fill = (
        f"sheet = Sheet({{'base': {a}}})",
        f"sheet.{w.set}('{one}', 'base * {b}')",
        f"sheet.{w.set}('{two}', '{one} - {c}')",
    )
    case = Topic("sheets").case
    yield case(
        "cells_use_each_other", "A cell may use other cells and the constants of its sheet.", *fill,
        f"? sheet.value('{two}')", "? sheet.value('base')", "? sheet.values()",
    )  # fmt: skip
    yield case(
        "a_new_formula_is_seen_everywhere",
        "When a cell gets a new formula, every cell that uses it changes.", *fill,
        f"? sheet.value('{two}')", f"sheet.{w.set}('{one}', 'base + {c}')",
        f"? sheet.value('{two}')", f"? sheet.value('{one}')",
    )  # fmt: skip
    yield case(
        "circles_are_refused", f"Cells that need themselves raise `{w.Error}`.", *fill,
        f"sheet.{w.set}('{three}', '{four} + 1')", f"sheet.{w.set}('{four}', '{three} * {b}')",
        f"? sheet.value('{three}')", f"? sheet.value('{two}')",
    )  # fmt: skip
    yield case(
        "a_cell_hides_a_constant", "A cell hides a constant of the same name.",
        f"sheet = Sheet({{'{one}': {a}, '{two}': {b}}})", f"sheet.{w.set}('{one}', '{two} * {c}')",
        f"? sheet.value('{one}')", "? sheet.values()",
    )  # fmt: skip
    yield case(
        "a_copy_goes_its_own_way",
        "`Sheet.copy` gives a sheet that is changed apart from the first.", *fill,
        "other = sheet.copy()", f"other.{w.set}('{one}', '{c}')", f"? other.value('{two}')",
        f"? sheet.value('{two}')", f"sheet.{w.set}('{three}', '{a}')", "? other.values()",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    one, two, three, four = w.cells.split()
    a, b, c = rng.sample(range(2, 7), 3)
    call = w.evaluate
    case = Topic("powers", needs="power").case
    yield case(
        "powers_run_from_right_to_left",
        f"`{w.power}` raises to a power, binds tighter than everything else and runs from right "
        "to left; a minus sign before it comes after it.",
        f"? {call}('{a} {w.power} {b} {w.power} 2')", f"? {call}('-{c} {w.power} 2')",
        f"? {call}('{a} * {b} {w.power} {c}')",
    )  # fmt: skip
    most = int(w.max_exponent)
    yield case(
        "powers_have_bounds", f"A power below 0 or above {most} raises `{w.Error}`.",
        f"? {call}('{a} {w.power} -{b}')", f"? {call}('{c} {w.power} (1 - 1)')",
        f"? {call}('1 {w.power} {most}')", f"? {call}('1 {w.power} ({most} + {b - 1})')",
    )  # fmt: skip
    case = Topic("names", needs="names").case
    yield case(
        "names_are_listed_once",
        f"`{w.names_in}` lists the variables of a tree once, in order of appearance.",
        f"? {w.names_in}(parse('{one} + {two} * {one} - {w.mean}({three}, {a})'))",
        f"? {w.names_in}(parse('{a} - -{b}'))",
        f"? {w.names_in}(parse('({four} < {two}) + {four}'))",
    )  # fmt: skip
    lines = [
        f"sheet.{w.set}('{four}', '{two} + {three}')",
        f"sheet.{w.set}('{two}', '{one} * {a}')",
    ]
    lines += [f"sheet.{w.set}('{one}', '{b}')", f"sheet.{w.set}('{three}', '{two} - {c}')"]
    rng.shuffle(lines)
    yield case(
        "cells_are_ordered_by_use",
        f"`Sheet.{w.order}` lists every cell after the cells that it uses.", "sheet = Sheet()",
        *lines, f"? sheet.{w.order}()",
    )  # fmt: skip


FAMILY = PackageFamily(
    "formula", Path(__file__).parent, _words, (_arithmetic, _errors, _sheets, _features),
    (
        Feature(
            "power", "powers",
            "Formulas should understand powers: `a $power b`. A power binds tighter than products "
            "and than a minus sign before it (so `-3 $power 2` is -9), its right side may have a "
            "minus sign, and chains run from right to left. A power below 0 or above "
            "$max_exponent raises "
            "`$Error`.",
        ),
        Feature(
            "names", "questions about names",
            "I want to know which variables a formula uses. Please add `$names_in(tree)` to the "
            "package's exports: it takes what `parse` gives and lists the names of variables (not "
            "of functions), each once, in the order in which they appear. `Sheet` should get a "
            "method `$order()` on top of it that lists its cells, each one after the cells that "
            "it uses; otherwise in the order in which they were first set.",
        ),
    ),
)  # fmt: skip
