"""Routing: a network with closed ways and tolls, shortest routes, regions."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_SETTINGS = (
    ("station", "stations", "line", "lines"),
    ("harbour", "harbours", "ferry", "ferries"),
    ("village", "villages", "road", "roads"),
    ("hut", "huts", "trail", "trails"),
)
_NAMES = [
    "Ahrn",
    "Bode",
    "Calw",
    "Dorn",
    "Elz",
    "Fulda",
    "Gera",
    "Hahn",
    "Isar",
    "Jagst",
    "Kinzig",
    "Lahn",
]


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="RouteError NetworkError WayError", connect="connect link build",
        toll="toll fee charge", route="route shortest find_route", reach="reach within_reach near",
        regions="regions clusters islands", through="through tour via",
    )  # fmt: skip
    place, places, way, ways = rng.choice(_SETTINGS)
    words |= Words(place=place, places=places, Places=places.capitalize(), way=way, ways=ways)
    words["package"] = draw_name(rng, "routes ways net paths")
    words["summary"] = f"Shortest routes between {places}, over {ways} that may be closed."
    words["purpose"] = f"to plan trips between {places}"
    return words


def _network(rng: Random, w: Words) -> tuple[list[str], list[str]]:
    """Lines that build a ring of six places with chords, and the names."""
    names = rng.sample(_NAMES, 6)
    lines = ["net = Network()"]
    for at, name in enumerate(names):
        lines.append(f"net.{w.connect}('{name}', '{names[(at + 1) % 6]}', {rng.randrange(2, 12)})")
    one, two = names[0], names[3]
    lines.append(f"net.{w.connect}('{one}', '{two}', {rng.randrange(3, 14)}, both=False)")
    lines.append(f"net.{w.connect}('{names[1]}', '{names[4]}', {rng.randrange(3, 9)})")
    return lines, names


def _networks(rng: Random, w: Words) -> Cases:
    fill, names = _network(rng, w)
    a, b, c, d, *_ = names
    n = rng.randrange(15, 30)
    case = Topic("networks", fill).case
    yield case(
        "neighbours_come_in_order", f"`neighbours` lists open {w.ways} in alphabetical order.",
        f"? net.neighbours('{a}')", f"? net.neighbours('{d}')", f"net.close('{a}', '{b}')",
        f"? net.neighbours('{a}')", f"? net.neighbours('{a}', ignore_closed=True)",
        f"? net.neighbours('{b}')",
    )  # fmt: skip
    yield case(
        f"the_shorter_{w.way}_counts",
        f"Of two {w.ways} between the same {w.places} the shorter one counts.",
        f"net.{w.connect}('{a}', '{b}', {n})", f"? net.length('{a}', '{b}')",
        f"net.{w.connect}('{a}', '{b}', 1, both=False)", f"? net.length('{a}', '{b}')",
        f"? net.length('{b}', '{a}')",
    )  # fmt: skip
    yield case(
        "unknown_places_are_refused",
        f"Unknown {w.places}, missing {w.ways} and negative lengths raise `{w.Error}`.",
        f"? net.neighbours('{a}{b}')", f"? net.length('{a}', '{c}')", f"? net.close('{c}', '{a}')",
        f"? net.{w.connect}('{a}', '{c}', -{n})", f"? net.length('{a}', 'No {b}')",
        "? net.places()",
    )  # fmt: skip
    yield case(
        "a_copy_is_changed_by_itself", "A copy of a network is changed apart from the first.",
        "other = net.copy()", f"other.{w.connect}('{a}', '{c}', {n})", f"other.close('{b}', '{c}')",
        f"other.{w.toll}('{b}', {n})", f"? net.neighbours('{a}')", f"? net.neighbours('{b}')",
        f"? other.neighbours('{b}')", f"? net.toll_of('{b}') + other.toll_of('{b}')",
    )  # fmt: skip


def _routes(rng: Random, w: Words) -> Cases:
    fill, names = _network(rng, w)
    a, b, c, d, e, f = names
    n = rng.randrange(6, 20)
    case = Topic("routes", fill).case
    yield case(
        "the_shortest_route_is_found",
        f"`{w.route}` gives the length and the {w.places} of the shortest route.",
        f"? {w.route}(net, '{a}', '{c}')", f"? {w.route}(net, '{f}', '{d}')",
        f"? {w.route}(net, '{d}', '{a}')", f"? {w.route}(net, '{e}', '{e}')",
    )  # fmt: skip
    yield case(
        "closed_ways_are_not_used", f"Closed {w.ways} are not used until they are open again.",
        f"net.close('{a}', '{d}')", f"net.close('{a}', '{b}')", f"? {w.route}(net, '{a}', '{c}')",
        f"? {w.route}(net, '{c}', '{a}')", f"net.reopen('{a}', '{b}')",
        f"? {w.route}(net, '{a}', '{c}')",
    )  # fmt: skip
    x, y, z = rng.sample(("Ulm", "Aue", "Roth", "Zell", "Hof"), 3)
    far = rng.randrange(20, 40)
    yield Topic("routes").case(
        "ties_go_to_fewer_places",
        f"Of equally short routes the one with fewer {w.places} wins, then the first by name.",
        "net = Network()", f"net.{w.connect}('{x}', '{y}', {n})",
        f"net.{w.connect}('{y}', '{z}', {far - n})", f"net.{w.connect}('{x}', '{z}', {far})",
        f"? {w.route}(net, '{x}', '{z}')", f"net.{w.connect}('{z}', 'Bonn', {n})",
        f"net.{w.connect}('{x}', 'Aach', {n})", f"net.{w.connect}('Aach', 'Bonn', {far})",
        f"? {w.route}(net, '{x}', 'Bonn')", f"? {w.route}(net, 'Bonn', '{x}')",
    )  # fmt: skip
    yield case(
        "passing_through_may_cost",
        f"Passing through a {w.place} may cost extra; start and goal cost nothing.",
        f"net.{w.toll}('{b}', {n})", f"net.{w.toll}('{a}', {n + 3})",
        f"? {w.route}(net, '{a}', '{c}')", f"? {w.route}(net, '{a}', '{b}')",
        f"net.{w.toll}('{e}', {n})", f"? {w.route}(net, '{d}', '{f}')",
        f"? net.{w.toll}('No {c}', {n})",
    )  # fmt: skip
    yield case(
        "avoided_places_are_passed_by", f"Routes pass by the {w.places} in `avoid`.",
        f"? {w.route}(net, '{a}', '{c}', avoid=['{b}'])",
        f"? {w.route}(net, '{f}', '{d}', ('{e}', '{b}'))",
        f"? {w.route}(net, '{b}', '{d}', avoid=['{c}', '{e}', '{a}'])",
    )  # fmt: skip
    yield case(
        "reach_has_a_limit", f"`{w.reach}` lists what is at most `limit` away, the nearest first.",
        f"? {w.reach}(net, '{a}', {n})", f"? {w.reach}(net, '{d}', {n // 2}, avoid=['{c}'])",
        f"? list({w.reach}(net, '{b}', {n + 9}))",
        f"? {w.reach}(net, '{c}', net.length('{c}', '{d}'))",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    fill, names = _network(rng, w)
    a, b, c, d, e, f = names
    n = rng.randrange(3, 9)
    yield Topic("regions", fill, needs="regions").case(
        "regions_reach_each_other",
        f"`{w.regions}` lists {w.places} that reach each other, the largest region first.",
        f"net.{w.connect}('Zug', '{a}', {n}, both=False)", f"net.{w.connect}('Ulm', 'Hof', {n})",
        f"? {w.regions}(net)", f"net.close('{b}', '{c}')", f"? {w.regions}(net)",
        "net.close('Ulm', 'Hof')", f"? {w.regions}(net)",
    )  # fmt: skip
    yield Topic("regions", needs="regions").case(
        "closed_ways_part_regions", f"Closed {w.ways} part regions.", "net = Network()",
        f"net.{w.connect}('{a}', '{b}', {n})", f"net.{w.connect}('{b}', '{c}', {n})",
        f"net.close('{c}', '{b}')", f"? {w.regions}(net)", f"net.{w.connect}('{c}', '{d}', 1)",
        f"net.{w.connect}('{d}', '{a}', {n}, both=False)", f"? {w.regions}(net)",
    )  # fmt: skip
    case = Topic("tours", fill, needs="through").case
    yield case(
        "tours_visit_all_stops",
        f"`{w.through}` adds up the shortest routes from stop to stop, tolls of the stops "
        "included.",
        f"? {w.through}(net, ['{a}', '{c}', '{e}'])", f"net.{w.toll}('{c}', {n})",
        f"net.{w.toll}('{a}', {n + 1})", f"? {w.through}(net, ['{a}', '{c}', '{e}'])",
        f"? {w.through}(net, ['{f}', '{a}', '{c}', '{a}'], avoid=['{d}'])",
    )  # fmt: skip
    yield case(
        "a_tour_needs_two_stops", f"Fewer than two stops raise `{w.Error}`.",
        f"? {w.through}(net, ['{b}'])", f"? {w.through}(net, [])",
        f"? {w.through}(net, ['{b}', '{d}'])", f"? {w.through}(net, ['{b}', 'No {c}'])",
    )  # fmt: skip


FAMILY = PackageFamily(
    "routing", Path(__file__).parent, _words, (_networks, _routes, _features),
    (
        Feature(
            "regions", "regions",
            "We need to see how a network falls apart. Please add and export `$regions(network)`: "
            "it lists the regions of the network. A region is a list of $places, in alphabetical "
            "order, that all reach each other over open $ways (closed ones and the direction of "
            "one-way $ways count). The largest region comes first; equally large ones are in "
            "alphabetical order. Every $place is in exactly one region.",
        ),
        Feature(
            "through", "tours",
            "Please add and export `$through(network, stops, avoid=())`: the shortest route by "
            "way "
            "of all `stops`, in their order, as `(length, places)` like `$route` gives it. A stop "
            "on the way stands in the list once. `avoid` holds for every part of the tour. Stops "
            "between the first and the last are passed through, so their tolls count. Fewer than "
            "two stops raise `$Error`.",
        ),
    ),
)  # fmt: skip
