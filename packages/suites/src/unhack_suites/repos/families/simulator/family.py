"""Simulation: an agenda of events, stations with places and lines, a model that logs."""

from __future__ import annotations

from pathlib import Path
from random import Random

from unhack_suites.repos.family import Cases, Feature, PackageFamily, Topic, Words, draw_name, pick

_SETTINGS = (
    ("machine", "machines", "part", "parts", "saw drill paint"),
    ("desk", "desks", "visitor", "visitors", "ticket bags gate"),
    ("ward", "wards", "patient", "patients", "intake xray cast"),
    ("bay", "bays", "truck", "trucks", "scale dock wash"),
)


def _words(rng: Random) -> Words:
    words = pick(
        rng, Error="ModelError SimulationError", enter="enter schedule note_down",
        cancel="cancel call_off strike", send="send submit dispatch",
        station_method="set_up add_station build", close="close shut end_service",
        summary_of="summary_of figures report", rank="5 7 9",
    )  # fmt: skip
    station, stations, job, jobs, names = rng.choice(_SETTINGS)
    words |= Words(station=station, stations=stations, job=job, jobs=jobs, names=names)
    words |= Words(Jobs=jobs.capitalize(), Job=job.capitalize(), Station=station.capitalize())
    words["package"] = draw_name(rng, "sim flow line model")
    words["summary"] = f"Simulates {jobs} that go through {stations}."
    words["purpose"] = f"to find out how long {jobs} wait"
    return words


def _agenda(rng: Random, w: Words) -> Cases:
    t, u, v = sorted(rng.sample(range(1, 50), 3))
    x, y, z = rng.sample(["red", "green", "blue", "white", "black"], 3)
    case = Topic("agenda", ("agenda = Agenda()",)).case
    yield case(
        "earlier_events_come_first", "Events come in the order of their times.",
        f"agenda.{w.enter}({v}, '{x}')", f"agenda.{w.enter}({t}, '{y}')",
        f"agenda.{w.enter}({u}, '{z}')", "? agenda.peek()", "? agenda.pop()", "? agenda.pop()",
        "? agenda.size()", "? agenda.pop()", "? agenda.pop()",
    )  # fmt: skip
    yield case(
        "ranks_part_events_of_one_time",
        f"Of the same time, smaller ranks come first ({w.rank} unless it is told), then earlier "
        "entries.",
        f"agenda.{w.enter}({t}, '{x}')", f"agenda.{w.enter}({t}, '{y}', rank={int(w.rank) - 1})",
        f"agenda.{w.enter}({t}, '{z}', {int(w.rank) + 1})",
        f"agenda.{w.enter}({t}, '{y}{x}', {w.rank})",
        "? [agenda.pop(), agenda.pop(), agenda.pop(), agenda.pop()]",
    )  # fmt: skip
    yield case(
        "cancelled_events_do_not_come", f"`{w.cancel}` says whether there was something to cancel.",
        f"number = agenda.{w.enter}({t}, '{x}')", f"agenda.{w.enter}({u}, '{y}')",
        f"? agenda.{w.cancel}(number)", "? agenda.peek()", "? agenda.size()",
        f"? agenda.{w.cancel}(number)", "? agenda.pop()", f"? agenda.{w.cancel}(number)",
        "? agenda.peek()", f"? agenda.{w.enter}(-{t}, '{z}')",
    )  # fmt: skip


def _models(rng: Random, w: Words) -> Cases:
    one, two, three = w.names.split()
    p, q, r = rng.sample(range(3, 15), 3)
    a, b, c = rng.sample(["k1", "k2", "m7", "m8", "p3", "p4"], 3)
    fill = (
        "model = Model()", f"model.{w.station_method}('{one}', {p})",
        f"model.{w.station_method}('{two}', {q}, places=2)",
    )  # fmt: skip
    case = Topic("models", fill).case
    yield case(
        "plans_are_followed", f"{w.Jobs} go through the {w.stations} of their plan in order.",
        f"model.{w.send}('{a}', ['{one}', '{two}'], at={r})", "? model.run()", "? model.log()",
        "? model.served()", "? model.work()",
    )  # fmt: skip
    yield case(
        "one_waits_for_the_other", f"Where all places are taken, {w.jobs} wait in a line.",
        f"model.{w.send}('{a}', ['{one}'])", f"model.{w.send}('{b}', ['{one}'], at={p - 1})",
        f"model.{w.send}('{c}', ['{one}', '{two}'], {p - 2})", "? model.run()",
        "? model.log('starts')", "? model.log('waits')", "? model.served()",
    )  # fmt: skip
    yield case(
        "two_places_work_at_once", f"A {w.station} may have several places.",
        *(f"model.{w.send}('{name}', ['{two}'], at={at})" for at, name in enumerate((a, b, c))),
        "? model.run()", "? model.log('ends')", "? model.work()",
    )  # fmt: skip
    yield case(
        "a_run_may_stop_before_the_end", "`run` may stop after a time, and go on later.",
        f"model.{w.send}('{a}', ['{two}', '{one}'])",
        f"model.{w.send}('{b}', ['{one}'], at={q + 1})", f"? model.run(until={q})", "? model.log()",
        f"? model.waiting('{one}')", f"? model.run(until={q + 2})", f"? model.waiting('{one}')",
        "? model.run()", "? model.served()",
    )  # fmt: skip
    yield case(
        "senseless_models_are_refused",
        f"Unknown {w.stations}, empty plans, times that are over and names that are taken raise "
        f"`{w.Error}`.",
        f"? model.{w.send}('{a}', ['{three}'])", f"? model.{w.send}('{a}', [])",
        f"? model.{w.station_method}('{one}', {r})", f"? model.{w.station_method}('{three}', 0)",
        f"? model.{w.station_method}('{three}', {r}, places=0)",
        f"model.{w.send}('{a}', ['{one}'], at={r})", f"? model.{w.send}('{a}', ['{two}'])",
        "? model.run()", f"? model.{w.send}('{b}', ['{two}'], at={r - 1})",
    )  # fmt: skip


def _lines(rng: Random, w: Words) -> Cases:
    one, two, _ = w.names.split()
    p, q = rng.sample(range(4, 15), 2)
    a, b, c, d = rng.sample(["k1", "k2", "m7", "m8", "p3", "p4"], 4)
    fill = (
        "model = Model()",
        f"model.{w.station_method}('{one}', {p}, room=2)",
        f"model.{w.station_method}('{two}', {q})",
    )
    send = [f"model.{w.send}('{name}', ['{one}'], at={at})" for at, name in enumerate((a, b, c, d))]
    case = Topic("lines", fill).case
    yield case(
        "a_full_line_turns_away", f"Where a line is as long as its room, {w.jobs} leave.", *send,
        "? model.run()", "? model.log('leaves')", "? model.log('starts')", "? model.served()",
    )  # fmt: skip
    yield case(
        "urgent_ones_go_to_the_head", f"An urgent {w.job} goes to the head of the line.", *send[:2],
        f"model.{w.send}('{c}', ['{one}'], at=2, urgent=True)", "? model.run()",
        "? model.log('starts')",
    )  # fmt: skip
    yield case(
        "an_end_comes_before_an_arrival",
        f"At the same time a {w.job} ends before another arrives.",
        f"model.{w.send}('{a}', ['{one}', '{two}'])", f"model.{w.send}('{b}', ['{one}'], at={p})",
        f"model.{w.send}('{c}', ['{two}'], at={p})", "? model.run()", "? model.log()",
    )  # fmt: skip
    yield case(
        "a_line_has_no_bound_by_default", f"Without `room` any number of {w.jobs} wait.",
        *(
            f"model.{w.send}('{name}', ['{two}'], at={at % 2})"
            for at, name in enumerate((d, c, b, a))
        ),
        "? model.run(until=1)", f"? model.waiting('{two}')", "? model.run()", "? model.log('ends')",
    )  # fmt: skip


def _features(rng: Random, w: Words) -> Cases:
    one, two, _ = w.names.split()
    p, q = rng.sample(range(4, 15), 2)
    a, b, c, d = rng.sample(["k1", "k2", "m7", "m8", "p3", "p4"], 4)
    fill = (
        "model = Model()", f"model.{w.station_method}('{one}', {p}, room=1)",
        f"model.{w.station_method}('{two}', {q})", f"model.{w.send}('{a}', ['{one}', '{two}'])",
        f"model.{w.send}('{b}', ['{one}', '{two}'], at=1)",
        f"model.{w.send}('{c}', ['{one}'], at=2)",
    )  # fmt: skip
    case = Topic("figures", fill, needs="report").case
    yield case(
        "waiting_times_are_added_up",
        f"`{w.summary_of}` gives waiting time and total time of each {w.job}.", "model.run()",
        f"? {w.summary_of}(model)", f"model.{w.send}('{d}', ['{two}'], at={5 * p + 5 * q})",
        f"? '{d}' in {w.summary_of}(model)", "model.run()", f"? {w.summary_of}(model)['{d}']",
    )  # fmt: skip
    yield case(
        "unfinished_ones_have_their_time_so_far",
        f"A {w.job} counts as soon as its work at one {w.station} is done.",
        f"model.run(until={p})", f"? {w.summary_of}(model)", f"model.run(until={p + q + 1})",
        f"? {w.summary_of}(model)",
    )  # fmt: skip
    case = Topic("closing", fill, needs="closing").case
    yield case(
        "nothing_starts_after_closing",
        f"After `{w.close}` nothing new starts at a {w.station}: whoever comes leaves, whoever "
        "waits is still served.",
        f"model.{w.close}('{two}', at={p + 1})", f"? model.{w.close}('{one}{two}', at={p})",
        "? model.run()", "? model.log('leaves')", "? model.log('closed')", "? model.served()",
    )  # fmt: skip
    yield case(
        "closing_comes_first_at_its_time", "At the same time closing comes before everything else.",
        f"model.{w.close}('{one}', at=1)", "? model.run()", "? model.log()[:4]",
        "? model.log('leaves')",
    )  # fmt: skip


FAMILY = PackageFamily(
    "simulator", Path(__file__).parent, _words, (_agenda, _models, _lines, _features),
    (
        Feature(
            "report", "figures of a run",
            "I need figures of a run. Please add and export `$summary_of(model)`: a dictionary "
            "from "
            "every $job that has ended its work at some $station, or has left, to "
            "`{'waited': ..., 'total': ...}`, names in alphabetical order. `total` is the time "
            "from "
            "its first arrival to its latest end (or to its leaving); `waited` is the time that "
            "it "
            "has stood in lines, over all $stations where it has started since. The model's log "
            "has "
            "all that is needed.",
        ),
        Feature(
            "closing", "closing times",
            "${Station}s close in the evening. Please add `Model.$close(station, at)`. From that "
            "time "
            "on nobody who comes to the $station is taken: they leave. Whoever is at work or in "
            "line at that moment is still served. Closing comes before everything else that "
            "happens "
            "at the same time. It is logged as `(time, 'closed', '-', station)`. An unknown "
            "$station raises `$Error`.",
        ),
    ),
)  # fmt: skip
