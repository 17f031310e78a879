"""Tables: columns, conditions, groups with a registry of aggregates, joins, pivots."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_SETTINGS = (
    ("trips", "driver", "ada ben cleo dan", "town", "Graz Linz Wels", "km"),
    ("sales", "seller", "mo ria sam tea", "branch", "east west mill", "units"),
    ("harvests", "farmer", "olaf pia quin rut", "field", "hill brook moor", "sacks"),
)


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="TableError ColumnError DataError", append="append add insert",
        where="where select only", pick="pick columns_of project", sort="sort ordered sorted_by",
        group="group grouped by", join="join joined combine", pivot="pivot crosstab spread",
        total="total sum_of", typical="typical median", distinct="distinct different",
        range="range spread_of", begins="begins starts", gap="2 3", nothing="- ? .",
    )  # fmt: skip
    what, who, people, place, places, amount = rng.choice(_SETTINGS)
    words |= Words(what=what, who=who, people=people, place=place, towns=places, amount=amount)
    words["package"] = draw_name(rng, "table grid rows sheet")
    words["summary"] = f"Small tables in memory, made for lists of {what}."
    words["purpose"] = f"to evaluate {what}"
    return words


def _rows(rng: Random, w: Words, count: int = 6) -> list[list[object]]:
    people, towns = w.people.split(), w.towns.split()
    rows: list[list[object]] = [
        [rng.choice(people), rng.choice(towns), rng.randrange(3, 120)] for _ in range(count)
    ]
    rows[rng.randrange(1, count)][2] = None
    return rows


def _fill(rows: object, w: Words) -> str:
    return f"table = Table(['{w.who}', '{w.place}', '{w.amount}'], {rows})"


def _selection(rng: Random, w: Words) -> Cases:
    rows = _rows(rng, w)
    fill = _fill(rows, w)
    town, person = rows[0][1], rows[1][0]
    n = rng.randrange(30, 90)
    known = next(row[2] for row in rows if row[2] is not None)
    case = Topic("selection", (fill,)).case
    yield case(
        "rows_meet_all_conditions", f"`{w.where}` keeps the rows that meet all conditions.",
        f"? table.{w.where}(('{w.amount}', 'more', {n})).rows()",
        f"? table.{w.where}(('{w.place}', 'is', '{town}'), ('{w.amount}', 'less', "
        f"{n + 20})).rows()",
        f"? table.{w.where}(('{w.amount}', 'less', {known})).cells('{w.amount}')",
        f"? table.{w.where}(('{w.amount}', 'more', {known})).cells('{w.amount}')",
    )  # fmt: skip
    yield case(
        "conditions_can_be_turned_round",
        "`not` before a comparison turns it round; None meets nothing but `is`.",
        f"? table.{w.where}(('{w.who}', 'not is', '{person}')).rows()",
        f"? table.{w.where}(('{w.amount}', 'is', None)).rows()",
        f"? table.{w.where}(('{w.amount}', 'not more', {n})).cells('{w.amount}')",
        f"? table.{w.where}(('{w.place}', 'in', ['{town}', 'x'])).cells('{w.who}')",
        f"? table.{w.where}(('{w.amount}', 'not in', [{known}, {n}])).cells('{w.amount}')",
    )  # fmt: skip
    yield case(
        "beginnings_are_compared_as_text", f"`{w.begins}` compares the beginning of the text.",
        f"? table.{w.where}(('{w.place}', '{w.begins}', '{str(town)[:1]}')).cells('{w.place}')",
        f"? table.{w.where}(('{w.amount}', '{w.begins}', '{str(known)[:1]}')).cells('{w.amount}')",
        f"? table.{w.where}(('{w.who}', 'not {w.begins}', '{str(person)[:2]}')).cells('{w.who}')",
    )  # fmt: skip
    yield case(
        "columns_are_picked_in_order", f"`{w.pick}` gives columns in the order that is asked for.",
        f"? table.{w.pick}('{w.amount}', '{w.who}').rows()",
        f"? table.{w.pick}('{w.place}').rows()",
        f"? table.{w.pick}('{w.place}', '{w.amount}').columns()",
    )  # fmt: skip


def _orders(rng: Random, w: Words) -> Cases:
    rows = _rows(rng, w)
    fill = _fill(rows, w)
    town, person = rows[0][1], rows[1][0]
    n = rng.randrange(30, 90)
    case = Topic("selection", (fill,)).case
    yield case(
        "none_is_sorted_last",
        f"`{w.sort}` keeps the order of equal rows and puts None last, either way.",
        f"? table.{w.sort}('{w.amount}').cells('{w.amount}')",
        f"? table.{w.sort}('{w.amount}', reverse=True).rows()",
        f"? table.{w.sort}('{w.place}').rows()", "? table.rows()",
    )  # fmt: skip
    yield case(
        "misfits_are_refused",
        f"Unknown columns and comparisons, and rows that do not fit, raise `{w.Error}`.",
        f"? table.cells('{w.amount}s')", f"? table.{w.where}(('{w.who}', 'like', '{person}'))",
        f"? table.{w.append}(['{person}', {n}])",
        f"? table.{w.append}({{'{w.who}': '{person}', 'x': {n}}})",
        f"? Table(['a', 'b', 'a'], [[{n}, 1, 2]])",
    )  # fmt: skip
    yield case(
        "a_copy_grows_by_itself", "Rows may be dictionaries; a copy of a table grows by itself.",
        "other = table.copy()", f"other.{w.append}({{'{w.amount}': {n}, '{w.who}': '{person}'}})",
        "? other.rows()[-2:]", "? len(table.rows())",
        f"table.{w.append}(['{person}', '{town}', {n + 1}])", "? other.rows()[-1]",
        "? table.rows()[-1]",
    )  # fmt: skip


def _groups(rng: Random, w: Words) -> Cases:
    rows = _rows(rng, w, 9)
    fill = _fill(rows, w)
    call = f"table.{w.group}"
    case = Topic("groups", (fill,)).case
    yield case(
        "groups_are_added_up", "Groups come in order of appearance; None does not count.",
        f"? {call}('{w.place}', all=('{w.amount}', '{w.total}')).rows()",
        f"? {call}('{w.who}', n=('{w.amount}', 'count'), top=('{w.amount}', 'max')).rows()",
    )  # fmt: skip
    yield case(
        f"{w.typical}_takes_the_lower_middle",
        f"`{w.typical}` is the middle value, of an even number the lower one.",
        f"? {call}('{w.place}', mid=('{w.amount}', '{w.typical}')).rows()",
        f"? Table(['a', 'b'], {[[1, row[2]] for row in rows[:5]]}).{w.group}('a', m=('b', "
        f"'{w.typical}')).rows()",
    )  # fmt: skip
    yield case(
        "values_are_compared_in_groups",
        f"`{w.distinct}` counts different values, `{w.range}` is the largest difference.",
        f"? {call}('{w.place}', a=('{w.who}', '{w.distinct}'), b=('{w.amount}', "
        f"'{w.range}')).rows()",
        f"? {call}('{w.who}', x=('{w.amount}', 'min'), y=('{w.place}', '{w.distinct}')).columns()",
    )  # fmt: skip
    yield case(
        "an_aggregate_of_nothing_is_none", "An aggregate of nothing but None is None.",
        f"? Table(['a', 'b'], [['x', None], ['y', {rows[0][2] or 4}], ['x', "
        f"None]]).{w.group}('a', s=('b', '{w.total}')).rows()",
        f"? {call}('{w.who}', x=('{w.amount}', 'mean{rows[1][0]}'))",
        f"? {call}('{w.place}{rows[0][0]}', x=('{w.amount}', 'max'))",
    )  # fmt: skip


def _texts(rng: Random, w: Words) -> Cases:
    rows = _rows(rng, w, 3)
    case = Topic("texts").case
    yield case(
        "numbers_stand_on_the_right",
        "`text` aligns numbers on the right and everything else on the left; None is "
        f"`{w.nothing}`.",
        _fill(rows, w), "? table.text()", f"? table.{w.pick}('{w.amount}', '{w.who}').text(gap=1)",
        "? table.text(nothing='none')[1:]",
    )  # fmt: skip
    yield case(
        "columns_are_as_wide_as_they_need",
        f"A column is as wide as its widest cell or its name; {w.gap} spaces part columns.",
        f"table = Table(['{rows[0][0]}', 'n'], "
        f"{[[rows[0][1], 5], ['a' * len(str(rows[1][1])) * 2, rows[0][2]]]})",
        "? table.text()", f"? Table(['{rows[1][0]}'], []).text()",
        f"? table.{w.sort}('n', True).text(1)",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    rows = _rows(rng, w)
    fill = _fill(rows, w)
    people, towns = w.people.split(), w.towns.split()
    ages = [[rng.randrange(20, 70), person] for person in rng.sample(people, 3)]
    yield Topic("joins", needs="join").case(
        "rows_find_their_partners", f"`{w.join}` puts rows together that agree in a column.", fill,
        f"other = Table(['age', '{w.who}'], {[*ages, [19, ages[0][1]]]})",
        f"? table.{w.join}(other, '{w.who}').rows()",
        f"? table.{w.join}(other, '{w.who}', outer=True).rows()",
        f"? other.{w.join}(table, '{w.who}').columns()", f"? table.{w.join}(other, '{w.place}')",
    )  # fmt: skip
    yield Topic("pivots", needs="pivot").case(
        "a_pivot_has_a_column_for_each_value",
        f"`{w.pivot}` has a row and a column for each value of two columns.", fill,
        f"? table.{w.pivot}('{w.who}', '{w.place}', '{w.amount}').rows()",
        f"? table.{w.pivot}('{w.place}', '{w.who}', '{w.amount}', 'max').columns()",
        f"? table.{w.pivot}('{w.place}', '{w.who}', '{w.amount}', 'count').rows()",
        f"? table.{w.pivot}('{towns[0]}', '{w.who}', '{w.amount}')",
    )  # fmt: skip


FAMILY = PackageFamily(
    "tables", Path(__file__).parent, _words, (_selection, _orders, _groups, _texts, _features),
    (
        Feature(
            "join", "joins",
            "Please add `Table.$join(other, column, outer=False)`. Each row of the table is put "
            "together with every row of `other` that has the same cell in `column`, in the order "
            "of the two tables. The new table has all columns of the first and then those of the "
            "other one, without a second `column`. With `outer`, a row without partner is kept, "
            "its further cells being None; otherwise it is left out. A column that one of the "
            "tables lacks raises `$Error`.",
        ),
        Feature(
            "pivot", "pivots",
            "Please add `Table.$pivot(rows, columns, cells, name='$total')`, a new table. Its "
            "first "
            "column is called like `rows` and has every value of that column once, in order of "
            "appearance. It has one further column for every value of `columns`, in order of "
            "appearance too, named by the value as text. A cell is the aggregate `name` (one of "
            "`AGGREGATES`) of the cells `cells` where both agree; of nothing, or of nothing but "
            "None, it is None. Unknown names raise `$Error`.",
        ),
    ),
)  # fmt: skip
