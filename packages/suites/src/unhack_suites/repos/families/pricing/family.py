"""Pricing: a catalogue with stock, baskets, a registry of discount rules, receipts."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_SHOPS = (
    ("article", "tea cup kettle spoon", "kitchen garden"),
    ("ticket", "balcony stalls box gallery", "evening matinee"),
    ("part", "axle wheel chain saddle", "frame drive"),
    ("book", "atlas novel primer comic", "fiction school"),
)


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="ShopError OrderError SaleError", add="offer list_item stock_up",
        put="put add_item place", bulk="bulk many volume", bundle="bundle nth_free pack",
        threshold="threshold spend_over big_spender", assorted="assorted mixed_set combo",
        redeem="redeem apply_voucher pay_with", due="due open_amount left_to_pay",
        currency="EUR USD CHF", tax="7 8 19 20", least="5 6 10", stock="40 50 60",
    )  # fmt: skip
    item, names, groups = rng.choice(_SHOPS)
    words |= Words(item=item, names=names, groups=groups, group=groups.split()[0])
    words["package"] = draw_name(rng, "shop cart till market")
    words["summary"] = f"Baskets of {item}s, discount rules and receipts."
    words["purpose"] = f"to sell {item}s"
    return words


def _cases(rng: Random, w: Words) -> Cases:
    a, b, c, d = w.names.split()
    g, h = w.groups.split()
    pa, pb, pc, pd = rng.sample(range(105, 1999), 4)
    n, m, k = rng.sample(range(2, 5), 3)
    fill = (
        "shop = Catalogue()", f"shop.{w.add}('{a}', {pa})",
        f"shop.{w.add}('{b}', {pb}, group='{h}')",
        f"shop.{w.add}('{c}', {pc}, '{h}', stock={n + m + 9})",
        f"shop.{w.add}('{d}', {pd}, '{g}', {k})", "basket = Basket(shop)",
    )  # fmt: skip
    put = (
        f"basket.{w.put}('{b}', {m})", f"basket.{w.put}('{a}', {n})",
        f"basket.{w.put}('{c}', {k})",
    )  # fmt: skip
    yield from _stock(w, fill, (a, b, c, d, n, m, k))
    yield from _bills(rng, w, (*fill, *put), (a, n, m))
    yield from _vouchers(rng, w, (*fill, *put), (n, k))
    yield from _rules(rng, w, fill, (pa, pb, n, m, k))


def _stock(
    w: Words, fill: tuple[str, ...], drawn: tuple[str, str, str, str, int, int, int]
) -> Cases:
    a, b, c, d, n, m, k = drawn
    h = w.groups.split()[1]
    case = Topic("stock", fill).case
    yield case(
        "pieces_leave_the_stock", "What is put into a basket leaves the stock.",
        f"basket.{w.put}('{a}', {n})", f"basket.{w.put}('{a}')", f"? shop.left('{a}')",
        f"? shop.left('{b}')", f"basket.{w.put}('{c}', {m})", f"? shop.left('{c}')",
    )  # fmt: skip
    yield case(
        "dropped_pieces_go_back", "Dropped pieces go back into stock, and only they.",
        f"basket.{w.put}('{a}', {n + 2})", f"basket.drop('{a}', {n})", f"? shop.left('{a}')",
        "? basket.lines()", f"basket.drop('{a}')", f"basket.drop('{a}')", "? basket.lines()",
    )  # fmt: skip
    yield case(
        "a_basket_cannot_take_what_is_not_there",
        f"More pieces than there are raise `{w.Error}` and change nothing.",
        f"? basket.{w.put}('{d}', {k + 1})", f"basket.{w.put}('{d}', {k})",
        f"? basket.{w.put}('{d}')", f"? shop.left('{d}')", f"? basket.drop('{d}', {k + 1})",
        f"? basket.{w.put}('{a}', 0)",
    )  # fmt: skip
    yield case(
        "unknown_names_are_refused", "A name that the catalogue lacks raises `UnknownItem`.",
        f"? basket.{w.put}('{a}{n}')", f"? shop.price('{b}{m}')", f"? shop.group('no {c}')",
        f"? shop.{w.add}('{d}', -{m})",
    )  # fmt: skip
    yield case(
        "the_cheapest_of_a_group_is_found",
        "`cheapest` compares prices inside a group, then names.", f"? shop.cheapest('{h}')",
        f"? shop.cheapest('{w.group}')", f"shop.{w.add}('aa', shop.price('{b}'), '{h}')",
        f"shop.{w.add}('zz', min(shop.price('{b}'), shop.price('{c}')), '{h}')",
        f"? shop.cheapest('{h}')", "? shop.cheapest('nothing')",
    )  # fmt: skip


def _bills(rng: Random, w: Words, fill: tuple[str, ...], drawn: tuple[str, int, int]) -> Cases:
    a, n, m = drawn
    case = Topic("bills", fill).case
    yield case(
        "tax_is_added_to_the_sum", f"The total has {w.tax} percent tax, rounded half up.",
        "? basket.subtotal()", "? basket.total()", "? basket.discount()",
    )  # fmt: skip
    yield case(
        "a_discount_comes_before_the_tax", "Tax is taken of the discounted sum.",
        f"basket.use('{w.threshold}', worth=100, off={rng.randrange(111, 199)})",
        "? basket.total()", "? basket.subtotal()",
    )  # fmt: skip
    off = rng.randrange(101, 200)
    yield case(
        "the_bill_adds_up",
        "`bill` spreads the discount over the lines by their worth, in whole cents that add up; "
        "the first lines take the odd cents.",
        f"basket.use('{w.threshold}', worth={m}, off={off})", "? basket.bill()",
        "? sum(basket.bill().values()) == basket.subtotal() - basket.discount()",
    )  # fmt: skip
    yield case(
        "a_discount_never_exceeds_the_sum", "A discount is at most the subtotal.",
        f"basket.use('{w.threshold}', worth=1, off={rng.randrange(100_000, 200_000)})",
        "? basket.discount()", "? basket.total()", "? basket.bill()",
    )  # fmt: skip
    yield case(
        "a_receipt_lists_lines_in_order",
        "A receipt has the lines by name, then discount and total.", "? basket.receipt()",
        f"basket.use('{w.threshold}', worth=100, off={off})", "? basket.receipt()[-2:]",
    )  # fmt: skip
    yield case(
        "changes_are_seen_at_once", "Totals follow every change of the basket.",
        f"basket.use('{w.bulk}', rate={rng.randrange(5, 30)}, least={n + 1})",
        "? basket.discount()", f"basket.{w.put}('{a}', 2)", "? basket.discount()",
        f"basket.drop('{a}', 2)", "? basket.discount()",
        f"basket.use('{w.threshold}', worth=1, off={off})", "? basket.discount()",
    )  # fmt: skip


def _vouchers(rng: Random, w: Words, fill: tuple[str, ...], drawn: tuple[int, int]) -> Cases:
    n, k = drawn
    off = rng.randrange(101, 200)
    case = Topic("bills", fill, needs="vouchers").case
    yield case(
        "vouchers_count_once",
        f"`{w.redeem}` pays with a voucher, `{w.due}` is what is left; a code counts once.",
        f"basket.{w.redeem}('V{n}', {off})", f"? basket.{w.due}()",
        f"? basket.{w.redeem}('V{n}', {off})", f"basket.{w.redeem}('W{n}', {off * 2})",
        f"? basket.{w.due}()", f"basket.{w.redeem}('X', 99999)", f"? basket.{w.due}()",
        "? basket.total()",
    )  # fmt: skip
    yield case(
        "vouchers_come_after_discounts", "Vouchers pay what discounts and tax leave.",
        f"basket.use('{w.threshold}', worth=1, off={off})",
        f"basket.use('{w.threshold}', worth=1, off={off + 1})",
        f"basket.{w.redeem}('A{k}', {off + 7})", f"? basket.{w.due}()",
        f"? basket.{w.due}(best_only=True)",
    )  # fmt: skip


def _rules(
    rng: Random, w: Words, fill: tuple[str, ...], drawn: tuple[int, int, int, int, int]
) -> Cases:
    a, b, c, _ = w.names.split()
    g, h = w.groups.split()
    pa, pb, n, m, k = drawn
    rate = rng.randrange(3, 40)
    least = int(w.least)
    case = Topic("rules", fill).case
    yield case(
        f"{w.bulk}_needs_enough_pieces_of_one_kind",
        f"`{w.bulk}` takes `rate` percent off lines with at least `least` (default {least}) "
        "pieces.",
        f"basket.use('{w.bulk}', rate={rate})", f"basket.{w.put}('{a}', {least - 1})",
        f"basket.{w.put}('{b}', {n})", "? basket.discount()", f"basket.{w.put}('{a}')",
        "? basket.discount()", f"basket.use('{w.bulk}', rate={rate}, least={n})",
        "? basket.discount()",
    )  # fmt: skip
    yield case(
        f"{w.bundle}_gives_the_cheapest_pieces",
        f"`{w.bundle}` makes each `size`-th piece of a group free, the cheapest ones.",
        f"basket.use('{w.bundle}', group='{h}', size={m})", f"basket.{w.put}('{b}', {n + 1})",
        f"basket.{w.put}('{c}', {k + 1})", f"basket.{w.put}('{a}', {m * 2})", "? basket.discount()",
        f"basket.{w.put}('{c}', 2)", "? basket.discount()",
    )  # fmt: skip
    yield case(
        f"{w.threshold}_counts_from_its_amount_on",
        f"`{w.threshold}` takes `off` cents off from a subtotal of `worth` on.",
        f"basket.use('{w.threshold}', worth={n * pa}, off={rate})",
        f"basket.{w.put}('{a}', {n - 1})", "? basket.discount()", f"basket.{w.put}('{a}')",
        "? basket.discount()", f"basket.{w.put}('{b}')", "? basket.discount()",
    )  # fmt: skip
    yield case(
        "only_the_best_rule_may_count", "With `best_only` only the largest discount counts.",
        f"basket.{w.put}('{b}', {n})", f"basket.use('{w.threshold}', worth=1, off={rate})",
        f"basket.use('{w.threshold}', worth={n * pb}, off={rate + m})",
        f"basket.use('{w.threshold}', worth={n * pb + 1}, off={rate + k + 9})",
        "? basket.discount(best_only=True)", "? basket.discount()",
        "? basket.total(best_only=True)", "? basket.bill(best_only=True)",
    )  # fmt: skip
    yield case(
        "unknown_rules_are_refused", f"A rule that is not registered raises `{w.Error}`.",
        f"basket.{w.put}('{b}', {n})", f"? basket.use('{w.bulk}{n}', rate={rate})",
        f"basket.use('{w.threshold}', worth={m}, off={rate})", "? basket.discount()",
    )  # fmt: skip
    yield case(
        f"{w.assorted}_counts_full_sets",
        f"`{w.assorted}` takes `off` cents off for each full set of one piece of all `groups`.",
        f"basket.use('{w.assorted}', groups=['{g}', '{h}'], off={rate})",
        f"basket.{w.put}('{a}', {n})", "? basket.discount()", f"basket.{w.put}('{b}', {m})",
        "? basket.discount()", f"basket.{w.put}('{c}', {k})", "? basket.discount()",
        needs="assorted",
    )  # fmt: skip


FAMILY = PackageFamily(
    "pricing", Path(__file__).parent, _words, (_cases,),
    (
        Feature(
            "assorted", "a rule for mixed sets",
            "Please add a discount rule `$assorted` to the registry. Its settings are `groups`, a "
            "list of group names, and `off`, cents. For each full set of one piece out of every "
            "listed group the customer gets `off` cents; pieces may be of any $item of the group. "
            "Without a full set there is no discount.",
        ),
        Feature(
            "vouchers", "vouchers",
            "Customers want to pay with vouchers. `Basket.$redeem(code, cents)` notes one; a code "
            "that this basket has seen before raises `$Error`. `Basket.$due(best_only=False)` is "
            "what is left to pay: the total (with discount and tax, as `total` gives it) less all "
            "vouchers, and never below 0. `total` itself does not change.",
        ),
    ),
)  # fmt: skip
