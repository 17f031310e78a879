"""Differences of texts: common lines, changes forwards and backwards, three-way merges."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_LINES = [
    "salt",
    "flour",
    "butter",
    "sugar",
    "yeast",
    "water",
    "rye",
    "malt",
    "plums",
    "honey",
    "cream",
    "poppy",
]


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="PatchError MergeError ChangeError", changes="changes differences compare",
        apply="apply patch replay", merge="merge combine join_texts", counts="counts figures tally",
        loosely="loosely without_spaces", ignore="ignore_spaces loose", prefer="mark error mine",
        marks="<<<,===,>>> {{{,|||,}}} [mine],[or],[theirs]",
        text="recipes contracts notes minutes",
    )  # fmt: skip
    words["left_mark"], words["middle_mark"], words["right_mark"] = words["marks"].split(",")
    words["package"] = draw_name(rng, "diff merge patch lines")
    words["summary"] = f"Compares and merges versions of {words['text']}."
    words["purpose"] = f"to bring versions of {words['text']} together"
    return words


def _edited(rng: Random, lines: list[str], count: int) -> list[str]:
    """The lines with some replaced, lost or put in."""
    found = list(lines)
    for _ in range(count):
        at = rng.randrange(len(found))
        kind = rng.randrange(3)
        if kind == 0:
            found[at] = f"{rng.choice(_LINES)} {rng.randrange(2, 90)}"
        elif kind == 1 and len(found) > 3:
            del found[at]
        else:
            found.insert(at, rng.choice(_LINES))
    return found


def _changes(rng: Random, w: Words) -> Cases:
    old = rng.sample(_LINES, 6)
    new, other = _edited(rng, old, 3), _edited(rng, old, 2)
    extra = f"{rng.choice(_LINES)} {rng.randrange(100)}"
    case = Topic("changes").case
    yield case(
        "changes_are_as_few_as_possible", "Changes keep as many common lines as possible.",
        f"? {w.changes}({old}, {new})", f"? {w.changes}({old}, {other})",
        f"? {w.changes}({old}, {old[1:]})",
        f"? {w.changes}({old[:4]}, {[*old[:2], extra, *old[2:4]]})",
    )  # fmt: skip
    some = [rng.choice(_LINES[:4]) for _ in range(8)]
    others = [rng.choice(_LINES[:4]) for _ in range(7)]
    yield case(
        "repeated_lines_are_told_apart",
        "Of several ways to keep as many lines, the one that leaves out old lines early wins.",
        f"? {w.changes}({some}, {others})", f"? {w.changes}({others}, {some[::-1]})",
        f"? {w.apply}({some}, {w.changes}({some}, {others})) == {others}",
    )  # fmt: skip
    yield case(
        "equal_texts_have_no_changes", "Equal texts have no changes; empty ones change as a whole.",
        f"? {w.changes}({new}, {new})", f"? {w.changes}([], {other})",
        f"? {w.changes}({old[:2]}, [])",
    )  # fmt: skip
    yield case(
        "applied_changes_give_the_new_text", f"`{w.apply}` turns the old text into the new one.",
        f"found = {w.changes}({old}, {new})", f"? {w.apply}({old}, found)",
        f"? {w.apply}({old}, found[::-1])", f"? {w.apply}({[extra, *old]}, [(0, [], ['{extra}'])])",
    )  # fmt: skip
    yield case(
        "changes_can_be_taken_back", "Backwards, changes turn the new text into the old one.",
        f"found = {w.changes}({old}, {new})", f"? {w.apply}({new}, found, backwards=True)",
        f"? {w.apply}({other}, {w.changes}({old}, {other}), True)",
    )  # fmt: skip
    yield case(
        "changes_that_do_not_fit_are_refused", f"A text with other lines raises `{w.Error}`.",
        f"? {w.apply}({old}, [(1, ['{extra}'], [])])",
        f"? {w.apply}({old[:2]}, [(2, ['{old[2]}'], ['{extra}'])])",
        f"? {w.apply}({old}, [(0, ['{old[0]}'], [])], backwards=True)",
        f"? {w.apply}({old}, [(6, [], ['{extra}'])])",
    )  # fmt: skip


def _merges(rng: Random, w: Words) -> Cases:
    base = rng.sample(_LINES, 8)
    x, y, z = (f"{word} {rng.randrange(100, 200)}" for word in rng.sample(_LINES, 3))
    early, late = [x, *base[1:]], [*base[:6], y, base[7]]
    call = w.merge
    case = Topic("merges", (f"base = {base}",)).case
    yield case(
        "changes_of_both_sides_are_kept", "Changes in different places are all kept.",
        f"? {call}(base, {early}, {late})", f"? {call}(base, {late}, {early}, 'error')",
        f"? {call}(base, {base[2:]}, {[*base, z]})",
        f"? {call}(base, {[*base[:4], z, *base[4:]]}, {early})",
    )  # fmt: skip
    yield case(
        "equal_changes_are_no_conflict",
        "Where both sides make the same change there is no conflict.",
        f"? {call}(base, {early}, {early})",
        f"? {call}(base, {[z, *base[2:]]}, {[z, *base[2:6], y, base[7]]}, 'error')",
    )  # fmt: skip
    mine, theirs = [*base[:3], x, *base[4:]], [*base[:3], y, *base[4:]]
    yield case(
        "conflicts_are_marked", "`mark` puts both sides of a conflict between marks.",
        f"? {call}(base, {mine}, {theirs}, prefer='mark')",
        f"? {call}(base, {mine}, {[*base[:2], *base[5:]]}, 'mark')",
    )  # fmt: skip
    yield case(
        "a_side_may_be_preferred", "`mine` and `theirs` take a side; the conflict is counted.",
        f"? {call}(base, {mine}, {[*theirs[:6], z, *theirs[6:]]}, 'mine')",
        f"? {call}(base, {mine}, {theirs}, prefer='theirs')",
        f"? {call}(base, {mine}, {theirs})",
    )  # fmt: skip
    yield case(
        "conflicts_may_be_errors",
        f"`error` raises `{w.Error}` at a conflict, and so does an unknown preference.",
        f"? {call}(base, {mine}, {theirs}, 'error')", f"? {call}(base, {early}, {late}, 'both')",
        f"? {call}(base, {mine}, {late}, 'error')",
    )  # fmt: skip
    yield case(
        "touching_changes_are_one_place", "Changes that touch each other are one place.",
        f"? {call}(base, {[*base[:2], x, *base[3:]]}, {[*base[:3], y, *base[4:]]}, 'mark')",
        f"? {call}(base, {[*base[:2], x, *base[3:]]}, {[*base[:4], y, *base[5:]]}, 'mark')",
        f"? {call}(base, {[*base[:5], z, *base[5:]]}, {[*base[:4], y, *base[5:]]}, 'mark')",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    old = rng.sample(_LINES, 6)
    new = _edited(rng, old, 2)
    at = rng.randrange(1, 5)
    spaced = [*old[:at], f"  {old[at]}", *old[at + 1 :]]
    pair = f"{old[0]} {old[1]}"
    yield Topic("spaces", needs="spaces").case(
        "spaces_may_be_ignored", f"With `{w.ignore}`, lines that differ in spaces only are equal.",
        f"? {w.changes}({old}, {spaced}, {w.ignore}=True)", f"? {w.changes}({old}, {spaced})",
        f"? {w.changes}(['{pair}', '{old[2]}'], ['{pair.replace(' ', '   ')}', '{old[3]}'], "
        "True)",
        f"? {w.changes}(['{pair}'], ['{pair.replace(' ', '')}'], {w.ignore}=True)",
    )  # fmt: skip
    yield Topic("figures", needs="stats").case(
        "lines_are_counted", f"`{w.counts}` counts lines that were added, removed, moved and kept.",
        f"? {w.counts}({old}, {new})", f"? {w.counts}({old}, {[*old[2:], old[0]]})",
        f"? {w.counts}({[*old, old[0]]}, {[old[1], old[0], 'x', *old[2:5]]})",
        f"? {w.counts}({old[:at]}, [])",
    )  # fmt: skip


FAMILY = PackageFamily(
    "merge", Path(__file__).parent, _words, (_changes, _merges, _features),
    (
        Feature(
            "spaces", "spaces that do not count",
            "Reformatted texts look as if everything had changed. Please give `$changes` an "
            "argument `$ignore=False`. When it is true, two lines are equal if they differ in "
            "nothing but the number of spaces, at the ends or between words; a space where the "
            "other line has none still counts. The changes hold the lines as they are.",
        ),
        Feature(
            "stats", "figures",
            "Please add and export `$counts(old, new)`, which gives a dictionary with `added`, "
            "`removed`, `moved` and `kept` lines, in this order, on the ground of `$changes`. A "
            "line that is removed in one place and added in another is moved; it counts neither "
            "as "
            "added nor as removed. All other lines of the new text that were not added are kept.",
        ),
    ),
)  # fmt: skip
