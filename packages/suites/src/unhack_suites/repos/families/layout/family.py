"""Text layout: wrapping, a registry of alignments, tables, pages made of blocks."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_VOCABULARY = [
    "river",
    "stone",
    "lantern",
    "a",
    "meadow",
    "of",
    "under",
    "harvest",
    "the",
    "quiet",
    "orchard",
    "winter",
    "to",
    "copper",
    "signal",
    "ladder",
    "an",
    "island",
    "in",
    "pepper",
    "granite",
    "by",
    "shelter",
    "morning",
    "candle",
    "on",
    "velvet",
]


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="LayoutError WidthError PageError", wrap="wrap fold fill_lines",
        table="table columns grid", justify="justify block_set full",
        heading="heading title section", bullets="items bullets points", mark="* - +", gap="2 3",
        widest="12 14 16", width="40 44 48",
    )  # fmt: skip
    words["package"] = draw_name(rng, "text page press type")
    words["summary"] = rng.choice(
        ("Lays out plain text: lines, tables, pages.", "Plain text with margins, lists and tables.")
    )
    words["purpose"] = "to print letters and lists"
    return words


def _text(rng: Random, count: int) -> str:
    return " ".join(rng.choice(_VOCABULARY) for _ in range(count))


def _wrapping(rng: Random, w: Words) -> Cases:
    case = Topic("wrapping").case

    yield case(
        "lines_are_as_long_as_possible", "A line takes as many words as fit into the width.",
        f"? {w.wrap}('{_text(rng, 9)}', {rng.randrange(14, 22)})",
        f"? {w.wrap}('{rng.choice('abc')}{'x' * 5} {'y' * 4} {'z' * 3}', 11)",
        f"? {w.wrap}('  {_text(rng, 3)}   {_text(rng, 2)} ', 60)",
    )  # fmt: skip
    long = "".join(rng.sample("abcdefghijklmnopqrstuvw", 19))
    yield case(
        "long_words_are_cut", "A word that is longer than a line is cut at the width.",
        f"? {w.wrap}('{long}', {rng.randrange(5, 9)})",
        f"? {w.wrap}('{_text(rng, 2)} {long} {_text(rng, 1)}', 8)",
        f"? {w.wrap}('{long[:8]} {long[8:]}', 8)",
    )  # fmt: skip
    yield case(
        "leads_count_as_part_of_the_line", "`first` and `rest` stand before lines and take room.",
        f"? {w.wrap}('{_text(rng, 7)}', {rng.randrange(16, 20)}, '>>> ', '.. ')",
        f"? {w.wrap}('{_text(rng, 5)}', 15, rest='    ')", f"? {w.wrap}('{long}', 9, '- ', '    ')",
    )  # fmt: skip
    yield case(
        "leads_must_leave_room", f"A width that leaves no room raises `{w.Error}`.",
        f"? {w.wrap}('{_text(rng, 2)}', 4, '--> ')", f"? {w.wrap}('{_text(rng, 2)}', 0)",
        f"? {w.wrap}('{long[:3]}', 5, '--> ')", f"? {w.wrap}('', 9)",
    )  # fmt: skip


def _aligning(rng: Random, w: Words) -> Cases:
    one, two = rng.sample([word for word in _VOCABULARY if len(word) > 4], 2)
    width = rng.randrange(12, 20)
    case = Topic("aligning").case
    yield case(
        "lines_grow_to_the_width", "`align` fills a line up on the left, the right or both sides.",
        f"? align('{one}', {width}, 'right')", f"? align('{two}', {width}) + '|'",
        f"? align('{one}', {width}, 'middle', '.')",
        f"? align('{two} {one[0]}', {width}, 'left', '_')",
    )  # fmt: skip
    yield case(
        "the_middle_leans_to_the_left", "In the middle an odd place is put on the right side.",
        f"? align('{one}', {len(one) + 5}, 'middle', '~')",
        f"? align('{two}', {len(two) + 1}, 'middle', '#')",
        f"? align('{two}', {len(two) + 4}, 'middle', '#')",
    )  # fmt: skip
    yield case(
        "full_lines_stay_as_they_are", "A line that is as wide as asked, or wider, stays as it is.",
        f"? align('{one} {two}', {len(one)}, 'right')",
        f"? align('{one}', {len(one)}, 'middle', '*')",
    )  # fmt: skip
    yield case(
        "unknown_alignments_are_refused", f"An unknown alignment raises `{w.Error}`.",
        f"? align('{one}', {width}, '{two}')", f"? align('{one}', {width}, 'Left')",
        f"? '{two}' in alignments()", f"? alignments('{rng.choice(('ri', 'mi', 'le', 'x'))}')",
    )  # fmt: skip
    text = _text(rng, 4)
    yield case(
        f"{w.justify}_widens_the_spaces",
        f"`{w.justify}` spreads the free places over the spaces, the first ones get more.",
        f"? align('{text}', {len(text) + 4}, '{w.justify}')",
        f"? align('{one} {two}', {len(one) + len(two) + 6}, '{w.justify}')",
        f"? align('{text}', {len(text) + 3}, '{w.justify}')",
        f"? align('{one}', {width}, '{w.justify}')", needs="justify",
    )  # fmt: skip


def _pages(rng: Random, w: Words) -> Cases:
    width = rng.randrange(18, 26)
    one, two = _text(rng, 6), _text(rng, 5)
    name = rng.choice(_VOCABULARY)
    case = Topic("pages").case
    yield case(
        "blocks_are_parted_by_empty_lines", "Blocks of a page are parted by one empty line.",
        f"page = Page({width})", f"page.text('{one}\\n\\n\\n{two}')", "page.rule('=')",
        f"page.text('{name}')", "? page.lines()",
    )  # fmt: skip
    yield case(
        "a_margin_takes_room", "A margin stands before every line and is part of the width.",
        f"page = Page({width}, margin={rng.randrange(2, 6)})", f"page.text('{one}').rule()",
        f"page.{w.bullets}(['{name}', '{two}'])", "? page.lines()",
    )  # fmt: skip
    yield case(
        "headings_are_numbered", "Headings count for each level; deeper numbers begin anew.",
        f"page = Page({width})",
        f"page.{w.heading}('{name}').{w.heading}('x', 2).{w.heading}('y', 2)",
        f"page.{w.heading}('{two[:6]}').{w.heading}('z', 2).{w.heading}('u', 3).{w.heading}('v', "
        "2)",
        "? page.lines()[::2]", f"? page.{w.heading}('w', 4)", f"? page.{w.heading}('w', 0)",
    )  # fmt: skip
    yield case(
        "items_hang_below_their_mark", "Further lines of an item stand below its first word.",
        f"page = Page({width})", f"page.{w.bullets}(['{one}', '{name}'])",
        f"page.{w.bullets}(['{two}'], mark='{rng.randrange(1, 9)}.')", "? page.lines()",
    )  # fmt: skip
    yield case(
        "a_text_may_be_aligned_otherwise", "`how` of a text goes before that of the page.",
        f"page = Page({width}, 'right')", f"page.text('{two}')", f"page.text('{name}', 'middle')",
        f"page.text('{name[:3]}', how='left')", "? page.lines()",
    )  # fmt: skip
    yield case(
        "a_copy_grows_by_itself", "A copy of a page goes on by itself, with the same numbers.",
        f"page = Page({width}, margin=1).{w.heading}('{name}')", "other = page.copy()",
        f"other.{w.heading}('{name[::-1]}').rule()", f"page.{w.heading}('{two[:5]}', 2)",
        "? page.lines()", "? other.lines()",
    )  # fmt: skip
    yield case(
        "pages_have_a_default_width", f"A page is {w.width} characters wide unless it is told.",
        "page = Page()", f"page.text('{_text(rng, 14)}').rule('{rng.choice('~=_')}')",
        "? page.lines()", f"? Page({width}, margin={width})", f"? Page({width}, margin=-1)",
    )  # fmt: skip


def _tables(rng: Random, w: Words) -> Cases:
    rows = [[_text(rng, 1), str(rng.randrange(2000)), _text(rng, 1)[:4]] for _ in range(3)]
    rows[1] = rows[1][:2]
    long = "".join(rng.sample("abcdefghijklmnopqrstuvw", 20))
    case = Topic("tables", needs="columns").case
    yield case(
        "columns_are_as_wide_as_their_cells", "A column is as wide as its widest cell.",
        f"? {w.table}({rows})", f"? {w.table}({rows}, ('right', 'right'))",
        f"? {w.table}({rows[:1]}, ['middle', 'left', 'right'])",
    )  # fmt: skip
    yield case(
        "wide_cells_are_cut",
        f"A cell of more than `widest` (default {w.widest}) characters is cut "
        "and ends in `~`.",
        f"? {w.table}([['{long}', '{rows[0][1]}'], ['{long[: int(w.widest)]}', 'x']])",
        f"? {w.table}({[*rows[:2], [long, '']]}, widest={rng.randrange(4, 8)})",
    )  # fmt: skip
    yield case(
        "too_many_alignments_are_refused", f"More alignments than columns raise `{w.Error}`.",
        f"? {w.table}({rows}, ['left'] * 4)", f"? {w.table}({rows[1:2]}, ['right'] * 2)",
        f"? {w.table}([])",
    )  # fmt: skip


FAMILY = PackageFamily(
    "layout", Path(__file__).parent, _words, (_wrapping, _aligning, _pages, _tables),
    (
        Feature(
            "justify", "justified lines",
            "I miss justified lines. Please add an alignment `$justify` next to the others: the "
            "free places of a line are spread over the spaces between its words so that it gets "
            "exactly the width; where they do not divide evenly, the first spaces get one more. A "
            "line with a single word stays on the left and is filled up with the fill character.",
        ),
        Feature(
            "columns", "tables",
            "Please add tables: `$table(rows, how=(), widest=$widest)`, exported by the package. "
            "Rows are lists of texts and may differ in length (short ones are filled up with "
            "empty "
            "cells); the result is a list of lines. Every column is as wide as its widest cell, "
            "columns are parted by $gap spaces, trailing spaces are removed. `how` holds the "
            "alignments of the first columns, the others are `left`; more alignments than columns "
            "raise `$Error`. A cell with more than `widest` characters is cut to that width, its "
            "last character being `~`. No rows give no lines.",
        ),
    ),
)  # fmt: skip
