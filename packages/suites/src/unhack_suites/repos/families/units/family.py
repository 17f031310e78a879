"""Units: a registry of base and derived units, exact quantities, conversion."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_FICTIONS = (
    ("ell", "span", "rod", "glass", "watch", "stone", "ounce"),
    ("pace", "thumb", "chain", "sand", "bell", "bag", "grain"),
    ("reed", "palm", "field", "drop", "shift", "jar", "seed"),
)


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="UnitError MeasureError", base="base add_base fundamental",
        derive="derive add_derived compose", of="of quantity measure",
        convert="convert in_unit change", compatible="compatible same_kind alike",
        best="best readable scaled", times="* .", places="3 4",
    )  # fmt: skip
    length, small, large, short, period, mass, light = rng.choice(_FICTIONS)
    words |= Words(length=length, small=small, large=large, short=short, period=period)
    words |= Words(mass=mass, light=light)
    words["package"] = draw_name(rng, "units measure scale yard")
    words["summary"] = "Converts amounts between units, exactly."
    words["purpose"] = "to convert old measures"
    return words


def _fill(rng: Random, w: Words) -> tuple[str, ...]:
    a, b, c, d = rng.sample(range(2, 30), 4)
    return (
        "units = Registry()", f"units.{w.base}('{w.length}')", f"units.{w.base}('{w.short}')",
        f"units.{w.base}('{w.mass}')", f"units.{w.derive}('{w.large}', {a}, '{w.length}')",
        f"units.{w.derive}('{w.small}', '1/{b}', '{w.length}')",
        f"units.{w.derive}('{w.period}', {c}, '{w.short}')",
        f"units.{w.derive}('{w.light}', '1/{d}', '{w.mass}')",
    )  # fmt: skip


def _conversions(rng: Random, w: Words) -> Cases:
    fill = _fill(rng, w)
    n, m, k = rng.sample(range(3, 500), 3)
    t, call = w.times, f"units.{w.convert}"
    case = Topic("conversions", fill).case
    yield case(
        "amounts_are_converted",
        f"Amounts are converted exactly and rounded to {w.places} places unless it is told.",
        f"? {call}({n}, '{w.large}', '{w.small}')", f"? {call}({m}, '{w.small}', '{w.large}')",
        f"? {call}('{k}.25', '{w.period}', '{w.short}', places=1)",
        f"? {call}({n}, '{w.light}', '{w.mass}', 6)",
    )  # fmt: skip
    yield case(
        "expressions_have_products_and_powers",
        f"Unit expressions have products (`{t}`), powers (`^`) and quotients (`/`, for all that "
        "follows).",
        f"? {call}({n}, '{w.large}^2', '{w.length}^2')",
        f"? {call}({m}, '{w.large}/{w.period}', '{w.small}/{w.short}')",
        f"? {call}({k}, '{w.mass}{t}{w.large}/{w.short}^2', "
        f"'{w.light}{t}{w.length}/{w.period}^2', places=5)",
        f"? {call}({n}, '{w.large}/{w.period}/{w.mass}', '{w.length}/{w.mass}{t}{w.short}')",
    )  # fmt: skip
    yield case(
        "prefixes_stand_before_names",
        "`k`, `h`, `c` and `m` before a name are thousands, hundreds and parts.",
        f"? {call}({n}, 'k{w.length}', '{w.length}')", f"? {call}({m}, '{w.large}', 'c{w.large}')",
        f"? {call}({k}, 'm{w.mass}', 'h{w.light}', places=7)",
    )  # fmt: skip
    yield case(
        "unknown_units_are_refused",
        f"Unknown units and names that are taken raise `{w.Error}`, other kinds `UnitMismatch`.",
        f"? {call}({n}, '{w.large}s', '{w.length}')", f"? {call}({m}, '{w.large}', '{w.short}')",
        f"? units.{w.derive}('{w.small}', {k}, '{w.length}')", f"? units.{w.base}('unit{n}')",
        f"? {call}({n}, '{w.mass}^x', '{w.mass}')",
    )  # fmt: skip
    yield case(
        "units_of_one_kind_are_found", f"`{w.compatible}` lists units that measure the same.",
        f"? units.{w.compatible}('{w.small}')",
        f"units.{w.derive}('new', {n}, '{w.large}{t}{w.large}')", f"? units.{w.compatible}('new')",
        f"? units.{w.compatible}('{w.short}', ['k{w.period}', '{w.mass}', '{w.period}'])",
        f"? {call}({m}, 'new', '{w.length}^2')",
    )  # fmt: skip


def _arithmetic(rng: Random, w: Words) -> Cases:
    fill = _fill(rng, w)
    n, m, k = rng.sample(range(3, 90), 3)
    make = f"units.{w.of}"
    case = Topic("arithmetic", fill).case
    yield case(
        "sums_mix_units_of_one_kind", "Sums and differences may mix units of one kind.",
        f"one, two = {make}({n}, '{w.large}'), {make}({m}, '{w.small}')",
        f"? one.plus(two).to('{w.length}')", f"? two.minus(one).to('{w.small}')",
        f"? one.minus(two).text('{w.large}', 2)",
    )  # fmt: skip
    yield case(
        "other_kinds_do_not_mix",
        "Sums, differences and comparisons of other kinds raise `UnitMismatch`.",
        f"one, two = {make}({n}, '{w.large}'), {make}({m}, '{w.mass}')", "? one.plus(two)",
        "? two.minus(one)", "? one.is_less(two)", f"? one.to('{w.light}')",
    )  # fmt: skip
    yield case(
        "products_have_their_own_kind", "Products and quotients are of a kind of their own.",
        f"one, two = {make}({n}, '{w.large}'), {make}({m}, '{w.period}')",
        "? one.times(two).dimension()", "? one.per(two).dimension()", "? one.per(one).dimension()",
        "? one.times(one).per(two).dimension()", f"? one.per(two).to('{w.length}/{w.short}')",
        f"? one.times({k}).to('{w.large}')",
    )  # fmt: skip
    yield case(
        "quantities_are_compared", "Quantities of one kind are compared whatever their units.",
        f"one, two = {make}({n}, '{w.large}'), {make}({m * 20}, '{w.small}')", "? one.is_less(two)",
        "? two.is_less(one)", "? one.is_less(one)", f"? one.is_less({make}('{n}.01', '{w.large}'))",
    )  # fmt: skip
    yield case(
        "nothing_is_divided_by_zero", f"A quotient by nothing raises `{w.Error}`.",
        f"? {make}({n}, '{w.mass}').per({make}(0, '{w.short}'))",
        f"? {make}(0, '{w.mass}').per({make}({k}, '{w.light}')).to('{w.mass}/{w.mass}')",
        f"? {make}({n}, '{w.mass}').per({make}({k}, '{w.light}')).to('{w.mass}/{w.mass}')",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    fill = _fill(rng, w)
    n, m = rng.sample(range(40, 900), 2)
    make, names = f"units.{w.of}", [w.small, w.length, w.large]
    case = Topic("scaling", fill, needs="best").case
    yield case(
        "the_largest_fitting_unit_is_taken",
        f"`{w.best}` shows an amount in the largest unit in which it is at least 1, its sign left "
        "aside.",
        f"? {make}({n}, '{w.length}').{w.best}({names})",
        f"? {make}(-{m}, '{w.small}').{w.best}({names}, 1)",
        f"? {make}(1, '{w.large}').{w.best}({names[::-1]})",
        f"? {make}({n}, '{w.mass}').{w.best}(['m{w.mass}', 'k{w.mass}'], places=2)",
    )  # fmt: skip
    yield case(
        "small_amounts_take_the_smallest_unit",
        f"An amount below 1 in all units is shown in the smallest; without units `{w.Error}` is "
        "raised.",
        f"? {make}('0.{n}', '{w.mass}').{w.best}(['{w.mass}', 'k{w.mass}'])",
        f"? {make}({m}, '{w.mass}').{w.best}([])",
        f"? {make}(0, '{w.short}').{w.best}(['{w.short}'])",
        f"? {make}({n}, '{w.short}').{w.best}(['{w.mass}'])",
    )  # fmt: skip


FAMILY = PackageFamily(
    "units", Path(__file__).parent, _words, (_conversions, _arithmetic, _features),
    (
        Feature(
            "best", "readable amounts",
            "Amounts should be shown in a unit in which they read well. Please add "
            "`Quantity.$best(units, places=$places)`: of the given unit names it takes the "
            "largest "
            "unit in which the amount, its sign left aside, is at least 1, and gives the text "
            "that "
            "`text` gives for that unit. Where the amount is less than 1 in all of them, it takes "
            "the smallest unit. The order of the names does not matter. No names at all raise "
            "`$Error`, units of another kind `UnitMismatch`.",
        ),
    ),
)  # fmt: skip
