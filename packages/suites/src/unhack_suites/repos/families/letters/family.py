"""Templates of letters: a scanner, a parser, filters in a registry, scopes, strict or not."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_NAMES = ["amal", "bruno", "celia", "dario", "elif", "farid", "greta", "hugo"]
_GOODS = ["bread", "olives", "candles", "paper", "soap", "rope", "nails", "ink"]


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="TemplateError LetterError", render="render fill_in merge_text",
        title="title capital names", pad="pad right column", cut="cut short clip", width="8 10 12",
        fallback="default or_else fallback", number="number index nr",
    )  # fmt: skip
    words["opening"], words["closing"] = rng.choice((("{{", "}}"), ("[[", "]]"), ("<%", "%>")))
    words["package"] = draw_name(rng, "letter mail text post")
    words["summary"] = "Fills templates of letters with values."
    words["purpose"] = "to write letters to customers"
    return words


def _tag(w: Words, text: str) -> str:
    return f"{w.opening}{text}{w.closing}"


def _ask(w: Words, text: str, values: object, more: str = "") -> str:
    return f"? {w.render}({text!r}, {values!r}{more})"


def _values(rng: Random, w: Words) -> Cases:
    one, two, three = rng.sample(_NAMES, 3)
    n = rng.randrange(10, 99)

    def t(text: str) -> str:
        return _tag(w, text)

    case = Topic("values").case
    yield case(
        "names_are_replaced",
        f"A name between `{w.opening}` and `{w.closing}` gives way to its value.",
        _ask(w, f"Dear {t('who')}, {t(' n ')} to go", {"who": one, "n": n}),
        _ask(w, f"{t('a')}{t('b')}.", {"a": two, "b": one}), _ask(w, f"no tags, {three}", {}),
    )  # fmt: skip
    yield case(
        "paths_go_into_values",
        "A dotted path goes into dictionaries by name and into lists by number.",
        _ask(w, t("who.name"), {"who": {"name": two}}),
        _ask(w, f"{t('all.1')} and {t('all.0.x')}", {"all": [{"x": n}, one]}),
        _ask(w, t("all.2"), {"all": [one, two]}), _ask(w, t("who.age"), {"who": {"name": two}}),
    )  # fmt: skip
    yield case(
        "missing_names_are_errors",
        "A name without a value raises `MissingName`, or is empty when not `strict`.",
        _ask(w, f"Dear {t('who')}{n}", {"whom": one}),
        _ask(w, f"Dear {t('who')}{n}", {"whom": one}, ", strict=False"),
        _ask(w, f"<{t('a.b')}{three}>", {"a": {}}, ", strict=False"),
    )  # fmt: skip
    yield case(
        "comments_are_left_out", "A tag that begins with `#` is left out.",
        _ask(w, f"{one}{t('# ' + two)}{three}", {}),
        _ask(w, f"{t('#x')}{t('x')}{t('#')}!", {"x": n}),
    )  # fmt: skip
    yield case(
        "broken_tags_are_refused", f"Tags that are empty or not closed raise `{w.Error}`.",
        _ask(w, f"{one} {w.opening}who", {"who": two}), _ask(w, f"{two}{t(' ')}", {}),
        _ask(w, t(f"{one} {two}"), {one: n}), _ask(w, t(f"{one}|"), {one: n}),
        _ask(w, f"{one}{w.closing}{n}", {}),
    )  # fmt: skip
    yield case(
        "a_template_may_be_used_again", "A parsed template can be filled any number of times.",
        f"template = Template({(t('x') + ' ' + t('y|upper'))!r})",
        f"? template.fill({{'x': {n}, 'y': '{one}'}})",
        f"? template.fill({{'x': '{two}', 'y': '{three}'}})", f"? template.fill({{'x': {n}}})",
    )  # fmt: skip


def _filters(rng: Random, w: Words) -> Cases:
    one, two = rng.sample(_NAMES, 2)
    goods = rng.sample(_GOODS, 3)
    most = rng.randrange(4, 8)
    width = int(w.width)

    def t(text: str) -> str:
        return _tag(w, text)

    case = Topic("filters").case
    yield case(
        "filters_run_from_left_to_right", "Filters stand behind `|` and run from left to right.",
        _ask(w, t(f"x | join:- | {w.title}"), {"x": goods}),
        _ask(w, t("x|join|upper"), {"x": goods[:2]}), _ask(w, t("x|upper|count"), {"x": one}),
    )  # fmt: skip
    yield case(
        "joining_has_a_glue",
        "`join` puts its argument between items, a comma and a space without one.",
        _ask(w, t("x|join"), {"x": goods}), _ask(w, t("x|join:/"), {"x": [len(one), len(two) * 7]}),
        _ask(w, t("x|join:"), {"x": goods[1:]}),
    )  # fmt: skip
    yield case(
        f"{w.title}_changes_first_letters",
        f"`{w.title}` makes the first letter of each word large and no other.",
        _ask(w, t(f"x|{w.title}"), {"x": f"{one} {two}"}),
        _ask(w, t(f"x|{w.title}"), {"x": f"{one[0]}{two.upper()} de {goods[0]}"}),
    )  # fmt: skip
    yield case(
        f"{w.pad}_and_{w.cut}_have_a_width",
        f"`{w.pad}` and `{w.cut}` take a width, {w.width} without one; what is cut ends in `~`.",
        _ask(w, f"[{t(f'x|{w.pad}')}]", {"x": one}),
        _ask(w, f"[{t(f'x|{w.pad}:{most + 5}')}]", {"x": most}),
        _ask(w, t(f"x|{w.cut}"), {"x": one * 3}), _ask(w, t(f"x|{w.cut}:{most}"), {"x": two * 2}),
        _ask(w, t(f"x|{w.cut}:{most}"), {"x": (one * 4)[:most]}),
        _ask(w, t(f"x|{w.cut}"), {"x": (two * 5)[:width]}),
    )  # fmt: skip
    yield case(
        "unknown_filters_are_refused", f"An unknown filter raises `{w.Error}`.",
        _ask(w, t(f"x|{one}"), {"x": two}), _ask(w, t("x|upper|Upper"), {"x": one}),
        _ask(w, t("x|count"), {"x": goods * 2}),
    )  # fmt: skip


def _blocks(rng: Random, w: Words) -> Cases:
    one, two, three = rng.sample(_NAMES, 3)
    goods = rng.sample(_GOODS, 3)
    n = rng.randrange(2, 60)

    def t(text: str) -> str:
        return _tag(w, text)

    case = Topic("blocks").case
    yield case(
        "each_repeats_its_text",
        f"`each x in xs` repeats the text up to `end`; `{w.number}` counts from 1.",
        _ask(w, f"{t('each g in goods')}{t(w.number)}. {t('g')}; {t('end')}{n}", {"goods": goods}),
        _ask(w, f"<{t('each g in goods')}{t('g')}{t('end')}>", {"goods": []}),
        _ask(
            w, f"{t('each p in all')}{t('p.name|upper')} {t('p.n')} {t('end')}",
            {"all": [{"name": one, "n": n}, {"name": two, "n": 1}]},
        ),
    )  # fmt: skip
    yield case(
        "inner_names_hide_outer_ones",
        "A name of an inner block hides that of an outer one, until its `end`.",
        _ask(
            w, f"{t('x')}{t('each x in xs')}{t('x')}{t('end')}{t('x')}",
            {"x": one, "xs": goods[:2]},
        ),
        _ask(
            w,
            f"{t('each x in xs')}{t('each y in x')}{t('y')}{t(w.number)}{t('end')}{t(w.number)} "
            f"{t('end')}",
            {"xs": [goods, [one, n]]},
        ),
    )  # fmt: skip
    yield case(
        "if_asks_for_a_value",
        "`if` shows its text where the value is there and neither empty nor 0.",
        _ask(w, f"{t('if a')}{one}{t('end')}|{t('if b')}{two}{t('end')}", {"a": n, "b": 0}),
        _ask(w, f"{t('if a.x')}{three}{t('end')}{n}", {"a": {"x": ""}}),
        _ask(w, f"{t('if zz')}{two}{t('end')}{n}", {"z": 1}),
        _ask(w, f"{t('if a')}{t('if b')}{n}{t('end')}{one}{t('end')}", {"a": [0], "b": []}),
    )  # fmt: skip
    yield case(
        "blocks_have_to_be_closed",
        f"Blocks without `end`, and ends without block, raise `{w.Error}`.",
        _ask(w, f"{t('if a')}{one}", {"a": 1}), _ask(w, f"{two}{t('end')}{n}", {}),
        _ask(w, f"{t('each a b')}{t('end')}{one}", {"b": goods}),
        _ask(w, f"{t('if a b')}{three}{t('end')}", {"a": n}),
        _ask(w, f"{t('each x in xs')}{n}", {"xs": goods}),
    )  # fmt: skip
    yield case(
        "missing_lists_are_missing_names",
        "A list without a value is treated like any other missing name.",
        _ask(w, f"{one}{t('each x in xs')}{t('x')}{t('end')}", {"x": n}),
        _ask(w, f"{one}{t('each x in xs')}{t('x')}{t('end')}{n}", {"x": two}, ", False"),
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    one, two, three = rng.sample(_NAMES, 3)
    n = rng.randrange(2, 60)

    def t(text: str) -> str:
        return _tag(w, text)

    case = Topic("else", needs="otherwise").case
    yield case(
        "else_is_the_other_way", "`else` in an `if` begins the text that is shown otherwise.",
        _ask(w, f"{t('if a')}{one}{t('else')}{two}{t('end')}{n}", {"a": 0}),
        _ask(w, f"{t('if a')}{one}{t('else')}{two}{t('end')}{n}", {"a": n}),
        _ask(
        w,
        f"{t('if a')}{t('if b')}{one}{t('else')}{n}{t('end')}{t('else')}{three}{t('end')}",
        {"a": 1},
        ),
        _ask(w, f"{t('if a')}{t('else')}{t('b')}{t('end')}", {"b": three}),
    )  # fmt: skip
    yield case(
        "a_second_else_is_refused",
        f"A second `else`, or one outside of an `if`, raises `{w.Error}`.",
        _ask(w, f"{t('if a')}{one}{t('else')}{two}{t('else')}{t('end')}", {"a": n}),
        _ask(w, f"{t('each x in xs')}{one}{t('else')}{two}{t('end')}", {"xs": [n]}),
        _ask(w, f"{t('if a')}{one}{t('else')}{two}", {"a": n}),
        _ask(w, f"{t('if a')}{t('else')}{n}{t('end')}", {}),
    )  # fmt: skip
    yield Topic("fallbacks", needs="fallback").case(
        "a_fallback_stands_for_a_missing_value",
        f"`{w.fallback}:text` as the first filter stands in for a value that is missing, empty or "
        "None.",
        _ask(w, t(f"who|{w.fallback}:{one}"), {}),
        _ask(w, t(f"who|{w.fallback}:{one}|upper"), {"who": ""}),
        _ask(w, t(f"who|{w.fallback}:{one}|upper"), {"who": two}),
        _ask(w, t(f"a.b | {w.fallback}:{three}"), {"a": {"b": None}}),
        _ask(w, t(f"n|{w.fallback}:{one}"), {"n": 0}),
        _ask(w, t(f"who|upper|{w.fallback}:{one}"), {"who": two}),
    )  # fmt: skip


FAMILY = PackageFamily(
    "letters", Path(__file__).parent, _words, (_values, _filters, _blocks, _features),
    (
        Feature(
            "otherwise", "else",
            "An `if` should be able to say something in the other case. Please support a tag "
            "`else` "
            "between `if` and its `end`: the text before it is shown when the value is there and "
            "neither empty nor 0, the text after it otherwise. Blocks may be nested on both "
            "sides. A "
            "second `else` in the same `if`, an `else` in an `each`, or one outside of any block "
            "raises `$Error`.",
        ),
        Feature(
            "fallback", "values that stand in",
            "Not every customer has a name. Please support `$fallback:text` as the first filter "
            "of "
            "a value: where the value is missing, an empty text or None, the text behind the "
            "colon "
            "stands in for it, also in strict templates. Filters behind it work as usual. 0 and "
            "False are values. In any other place it is an unknown filter.",
        ),
    ),
)  # fmt: skip
