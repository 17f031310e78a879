"""Caches: a store with a bounded weight and times to live, a clock set by hand, two tiers."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="StoreError CacheError RoomError", advance="advance wait pass_time",
        put="put keep store_value", forget="forget drop discard", touch="touch renew extend",
        recent="recent lru latest", frequent="frequent lfu most_used", ttl="30 40 60 90",
        pin="pin hold protect", counts="counts statistics tally",
        kind="thumbnails quotes forecasts sessions",
    )  # fmt: skip
    words["package"] = draw_name(rng, "cache store shelf keep")
    words["summary"] = f"Keeps {words['kind']} for a while, within a bounded size."
    words["purpose"] = f"to keep {words['kind']} at hand"
    return words


def _keys(rng: Random) -> list[str]:
    return rng.sample(["ash", "bay", "cod", "dew", "elk", "fig", "gem", "hay", "ink", "jet"], 5)


def _times(rng: Random, w: Words) -> Cases:
    a, b, c, *_ = _keys(rng)
    x, y = rng.sample(range(10, 99), 2)
    ttl, start = int(w.ttl), rng.randrange(1000)
    short = rng.randrange(3, 12)
    fill = (f"clock = Clock({start})", "store = Store(clock, 5)", f"store.{w.put}('{a}', {x})")
    case = Topic("times", fill).case
    yield case(
        "values_expire", f"A value is good for {w.ttl} seconds unless it is told otherwise.",
        f"clock.{w.advance}({ttl - 1})", f"? store.get('{a}')", f"store.{w.put}('{b}', {y})",
        f"clock.{w.advance}()", f"? store.get('{a}')", f"? store.get('{b}')",
        f"? store.get('{a}', {y})",
    )  # fmt: skip
    yield case(
        "a_value_may_have_its_own_time",
        "`ttl` of a value goes before that of its store; None is for ever.",
        f"store.{w.put}('{b}', {y}, ttl={short})", f"store.{w.put}('{c}', {x + y}, ttl=None)",
        f"clock.{w.advance}({short})", f"? store.get('{b}')", "? store.keys()",
        f"clock.{w.advance}({ttl * 9})", "? store.keys()", f"? store.get('{c}')",
    )  # fmt: skip
    yield case(
        "time_can_be_given_anew",
        f"`{w.touch}` gives a value that is still good a new time from now on.",
        f"clock.{w.advance}({ttl - short})", f"? store.{w.touch}('{a}', {short + 2})",
        f"clock.{w.advance}({short + 1})", f"? store.get('{a}')", f"clock.{w.advance}()",
        f"? store.{w.touch}('{a}', {ttl})", f"? store.{w.touch}('{b}', {x})", "? store.keys()",
    )  # fmt: skip
    yield case(
        "expired_values_take_no_room", "What has expired has no weight.",
        f"store.{w.put}('{b}', {y}, weight=3, ttl={short})", "? store.weight()",
        f"clock.{w.advance}({short})", "? store.weight()", f"store.{w.put}('{c}', {y}, weight=4)",
        "? store.keys()", f"? store.get('{a}')",
    )  # fmt: skip
    yield case(
        "the_clock_is_set_by_hand", f"A clock moves when it is told; backwards raises `{w.Error}`.",
        f"? clock.{w.advance}({short})", f"? clock.{w.advance}()", f"? clock.{w.advance}(-{short})",
        "? clock.now()",
    )  # fmt: skip


def _room(rng: Random, w: Words) -> Cases:
    a, b, c, d, e = _keys(rng)
    x, y, z, u = rng.sample(range(10, 99), 4)
    case = Topic("room", ("clock = Clock()",)).case
    three = (
        f"store.{w.put}('{a}', {x})",
        f"store.{w.put}('{b}', {y})",
        f"store.{w.put}('{c}', {z})",
    )
    yield case(
        "the_longest_unused_goes_first",
        f"By default (`{w.recent}`) the entry that was used longest ago goes.",
        "store = Store(clock, 3)", *three, f"? store.get('{a}')", f"store.{w.put}('{d}', {u})",
        "? store.keys()", f"store.{w.put}('{c}', {u + z})", f"store.{w.put}('{e}', {x})",
        "? store.keys()", f"? store.get('{c}')",
    )  # fmt: skip
    yield case(
        "the_least_used_goes_first",
        f"With `{w.frequent}` the entry that was used least goes, of equal ones the oldest.",
        f"store = Store(clock, 3, order='{w.frequent}')", *three,
        f"? store.get('{a}') + store.get('{a}')", f"? store.get('{c}')",
        f"store.{w.put}('{d}', {u})", "? store.keys()", f"? store.get('{d}')",
        f"store.{w.put}('{e}', {y})", "? store.keys()",
    )  # fmt: skip
    yield case(
        "weights_are_added_up", "Entries weigh 1 unless they are told; the size bounds their sum.",
        f"store = Store(clock, {6 + x % 3})", f"store.{w.put}('{a}', {x}, weight=3)",
        f"store.{w.put}('{b}', {y}, 2)", f"store.{w.put}('{c}', {z})", "? store.weight()",
        f"store.{w.put}('{d}', {u}, weight=4)", "? store.keys()", "? store.weight()",
    )  # fmt: skip
    yield case(
        "replacing_needs_no_further_room", "A new value of a key takes the place of the old one.",
        "store = Store(clock, 4)", f"store.{w.put}('{a}', {x}, weight=2)",
        f"store.{w.put}('{b}', {y}, weight=2)", f"store.{w.put}('{a}', {z}, weight=2)",
        f"? store.get('{a}')", "? store.keys()", "? store.weight()", f"? store.{w.forget}('{b}')",
        f"? store.{w.forget}('{b}')", "? store.weight()",
    )  # fmt: skip
    yield case(
        "what_never_fits_is_refused",
        f"Weights below 1 or above the size raise `{w.Error}`, and so do senseless stores.",
        f"store = Store(clock, {x % 5 + 2})", f"? store.{w.put}('{a}', {y}, weight={x % 5 + 3})",
        f"? store.{w.put}('{a}', {y}, weight=0)", f"store.{w.put}('{b}', {z}, weight={x % 5 + 2})",
        "? store.keys()", "? Store(clock, 0)", f"? Store(clock, {x}, order='{a}')",
    )  # fmt: skip


def _tiers(rng: Random, w: Words) -> Cases:
    a, b, c, d, _ = _keys(rng)
    x, y, z = rng.sample(range(10, 99), 3)
    fill = (
        "clock = Clock()", "front = Store(clock, 2, ttl=9)",
        f"back = Store(clock, 6, ttl={50 + x})", "tiers = Tiers(front, back)",
        f"tiers.{w.put}('{a}', {x})", f"tiers.{w.put}('{b}', {y})",
    )  # fmt: skip
    case = Topic("tiers", fill).case
    yield case(
        "the_back_keeps_what_the_front_forgets", "Values are kept in both stores.",
        f"tiers.{w.put}('{c}', {z})", f"? tiers.where('{a}')", f"? tiers.where('{c}')",
        f"? tiers.get('{a}')", f"? tiers.where('{a}')", f"? tiers.where('{b}')",
    )  # fmt: skip
    yield case(
        "found_values_move_to_the_front",
        "A value that is found in the back is kept in the front again.",
        f"clock.{w.advance}({9 + x % 7})", f"? tiers.where('{a}')", f"? tiers.get('{a}')",
        f"? tiers.where('{a}')", f"? tiers.get('{d}', {z})", f"? tiers.where('{d}')",
        f"clock.{w.advance}({50 + x})", f"? tiers.get('{a}')",
    )  # fmt: skip
    yield case(
        "large_values_stay_in_the_back",
        "What does not fit into the front is kept in the back alone.",
        f"tiers.{w.put}('{c}', {z}, weight=3)", f"? tiers.where('{c}')",
        f"tiers.{w.put}('{a}', {z + 1}, weight=3)", f"? tiers.where('{a}')", f"? tiers.get('{b}')",
    )  # fmt: skip
    yield case(
        "both_forget", f"`{w.forget}` removes a key from both stores.", f"front.{w.forget}('{a}')",
        f"? tiers.{w.forget}('{a}')", f"? tiers.{w.forget}('{a}')", f"? tiers.get('{a}', -{y})",
        f"back.{w.forget}('{b}')", f"? tiers.{w.forget}('{b}')", f"? tiers.where('{b}')",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    a, b, c, d, e = _keys(rng)
    x, y, z = rng.sample(range(10, 99), 3)
    fill = (
        "clock = Clock()",
        "store = Store(clock, 3)",
        f"store.{w.put}('{a}', {x})",
        f"store.{w.put}('{b}', {y})",
    )
    case = Topic("pins", fill, needs="pins").case
    yield case(
        "pinned_entries_stay", f"`{w.pin}` keeps an entry from being thrown out for want of room.",
        f"store.{w.pin}('{a}')", f"store.{w.put}('{c}', {z})", f"store.{w.put}('{d}', {x + z})",
        f"store.{w.put}('{e}', {y + z})", "? store.keys()", f"? store.get('{a}')",
        f"? store.{w.pin}('{b}')",
    )  # fmt: skip
    yield case(
        "pins_end_with_their_entry",
        f"Where the pinned entries leave no room, `{w.Error}` is raised; a pin ends when its "
        "entry expires.",
        f"store.{w.pin}('{a}')", f"store.{w.pin}('{b}')", f"? store.{w.put}('{c}', {z}, weight=2)",
        f"store.{w.put}('{d}', {z})", f"clock.{w.advance}({w.ttl})", f"? store.{w.pin}('{a}')",
        f"store.{w.put}('{c}', {z}, weight=2)", f"store.{w.put}('{a}', {z}, weight=1)",
        f"store.{w.put}('{e}', {y}, weight=3)", "? store.keys()",
    )  # fmt: skip
    yield Topic("counts", fill, needs="counts").case(
        "uses_are_counted", f"`{w.counts}` gives hits, misses and how many keys are good.",
        f"? store.get('{a}')", f"? store.get('{c}', {z})", f"? store.get('{b}') + store.get('{a}')",
        f"? store.{w.counts}()", f"clock.{w.advance}({w.ttl})", f"? store.get('{a}')",
        f"store.{w.put}('{d}', {y})", f"? store.{w.counts}()",
    )  # fmt: skip


FAMILY = PackageFamily(
    "cache", Path(__file__).parent, _words, (_times, _room, _tiers, _features),
    (
        Feature(
            "pins", "pinned entries",
            "Some entries must not be thrown out just because there is no room. Please add "
            "`Store.$pin(key)`; a key that is not there, or has expired, raises `$Error`. A "
            "pinned "
            "entry is never thrown out to make room; it still expires, can be removed and can be "
            "replaced, and its pin ends with it. When `$put` finds that the pinned entries that "
            "are still good and the new one together weigh more than the store's size, it raises "
            "`$Error`.",
        ),
        Feature(
            "counts", "statistics",
            "I want to see whether a store is worth its room. Please add `Store.$counts()`. It "
            "gives a dictionary with `hits` (calls of `get` that found a good value), `misses` "
            "(all other calls of `get`, also where a default was given) and `keys`, the number of "
            "keys that are still good, in this order.",
        ),
    ),
)  # fmt: skip
