"""Tournaments as tables and lines, for people, and as fields, for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from unhack.agents.play import PlayEnding
from unhack.audit.report.wording import strict
from unhack.cli.verdict_table import plain_table
from unhack.reporting.text import one_line
from unhack.tournament.record.cheating import cheating_rates
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.outcome import (
    both_numbers,
    ending,
    given_as_good,
    grouped_flags,
    label,
    measured_nothing,
    review_words,
    tied_with,
    went_wrong,
)
from unhack.tournament.record.records import (
    Entry,
    PlayerRole,
    Round,
    Standing,
    TournamentRecord,
)

if TYPE_CHECKING:
    from pathlib import Path

    from unhack.tournament.contest import Contest, Measurement
    from unhack.tournament.review.degame import SubmissionVariant
    from unhack.tournament.review.replay import Replay

_NOISY = 0.1
_MAX_LETTERS = 160
"""Of one text of an agent or a judge; reports have it whole."""
_MAX_NAME = 20
"""Letters of an agent's name that stay on one line, in terminals that are too narrow for all."""
_SHORT = 12
"""Digits of a digest that people are shown."""


_WORDS = {
    PlayEnding.FAILED: "failed",
    PlayEnding.TIME: "out of time",
    PlayEnding.COST: "out of money",
}


def record_fields(record: TournamentRecord) -> dict[str, Any]:
    """The fields of a tournament in `--json`."""
    winner = record.winner
    rates = [{**as_fields(item), "rate": item.rate} for item in cheating_rates(record)]
    return {
        **as_fields(record),
        "winner": None if winner is None else as_fields(winner),
        "winners": {
            name: {**as_fields(one), "tied_with": list(tied_with(record, one))}
            for name, one in record.winners.items()
        },
        "cheating": rates,
    }


def as_fields(value: Any) -> dict[str, Any]:
    """A record value as plain data; what is no number is spelled."""
    kind = cast(type[Any], type(value))
    plain: Any = TypeAdapter[Any](kind).dump_python(value, mode="json")
    return strict(plain)


def screen(record: TournamentRecord) -> list[RenderableType]:
    """The standing of a tournament, for the terminal."""
    parts: list[RenderableType] = [_head(record), Text("")]
    if record.standings:
        parts += [_standings(record), Text(_COLUMNS, style="dim"), Text("")]
    if record.rounds:
        parts += [_rounds(record.rounds), Text("")]
    parts += [_reign(record, place) for place in range(len(record.reigns))]
    parts += _flagged(record.entries)
    parts += _endings(record.entries)
    word = "winner" if record.finished else "leader"
    for discipline, winner in record.winners.items():
        of = f" of {discipline}" if discipline else ""
        names = ", ".join(map(label, (winner.agent, *tied_with(record, winner))))
        first = f"tie within noise{of}" if tied_with(record, winner) else f"{word}{of}"
        parts.append(Text(f"{first}: {names}, round {winner.round}, {winner.fitness:.4g}"))
        control = given_as_good(record, winner)
        if control is not None:
            text = (
                f"  no better than what everybody was given: {control.agent} has "
                f"{control.fitness:.4g} in that round"
            )
            parts.append(Text(text, style="yellow"))
    if not record.winners:
        parts.append(Text(f"{word}: nobody"))
    if record.unbound:
        text = (
            f"{len(record.unbound)} values were stored by an earlier version without their hash: "
            "an edit of them shows only in `unhack tournament replay`"
        )
        parts.append(Text(text, style="yellow"))
    return parts


_COLUMNS = (
    "fitness: the judge's measure, larger is better, 0 is no gain; [low … high]: 95 % interval.\n"
    "rank 2 (2–3): second by mean fitness; with the noise, anywhere from second to third.\n"
    "control:null hands in nothing of use, control:identity what everybody was given,\n"
    "control:baseline the contest's first honest strategy (rating 0)."
)


def next_lines(path: Path) -> list[Text]:
    """The commands that one wants after a tournament."""
    return [
        Text(f"Next: unhack tournament report {path}    (one page with plots and evidence)"),
        Text(f"      unhack tournament replay {path}    (judge every submission again)"),
    ]


def entry_line(entry: Entry) -> Text:
    """One short line on what a round made of one agent."""
    line = Text(f"round {entry.round}  {label(entry.agent)}: ")
    line.append_text(_fitness(entry))
    measured = entry.measured
    if measured is not None and measured.valid and not entry.flags:
        line.append(f"  [{measured.low:.4g} … {measured.high:.4g}]")
        noise = measured.metrics.get("aa_noise", 0.0)
        if isinstance(noise, float) and 2**noise - 1 > _NOISY:
            text = f"  busy host: equal programs differ by up to {2**noise - 1:.0%}"
            line.append(text, style="yellow")
    if measured is not None and not measured.valid and not (entry.declined or entry.flags):
        line.append(f"  {_short(measured.reason)}", style="yellow")
    if went_wrong(entry):
        line.append(f"  {_short(ending(entry))}", style="yellow")
    return line


def _short(text: str) -> str:
    return one_line(text, most=_MAX_LETTERS)


def _flagged(entries: Sequence[Entry]) -> list[RenderableType]:
    """Rejected submissions, one block for each agent and set of flags, whatever the round."""
    parts: list[RenderableType] = []
    for same in grouped_flags(entries):
        first = same[0]
        rounds = ", ".join(str(entry.round) for entry in same)
        word = "round" if len(same) == 1 else "rounds"
        told, style = ("rejected", "red") if first.flags else ("overruled", "yellow")
        parts.append(Text(f"{told}: {label(first.agent)}, {word} {rounds}", style=style))
        flags = (*first.flags, *first.overruled)
        kinds = dict.fromkeys(flag.kind for flag in flags)
        for kind in kinds:
            evidence = [flag.evidence for flag in flags if flag.kind == kind]
            more = f" (and {len(evidence) - 1} more)" if len(evidence) > 1 else ""
            parts.append(Text(f"  {kind}: {_short(evidence[0])}{more}"))
        parts += [Text(f"  {_short(review_words(item))}") for item in first.reviews]
    return parts


def _endings(entries: Sequence[Entry]) -> list[RenderableType]:
    """The turns of agents that did not just finish, a line each."""
    wrong = [e for e in entries if e.role is PlayerRole.AGENT and went_wrong(e)]
    return [
        Text(f"round {entry.round}, {label(entry.agent)}: {_short(ending(entry))}", style="yellow")
        for entry in wrong
    ]


def replay_lines(found: Replay) -> list[RenderableType]:
    """The result of judging again, for the terminal."""
    lines: list[RenderableType] = [
        Text(
            f"round {item.round}  {item.agent}  {item.what}: {item.stored}; again: {item.again}",
            style="red",
        )
        for item in found.differences
    ]
    lines += [
        Text(
            f"round {item.round}  {item.agent}  {item.what}: the submission does not repeat itself "
            "(it was judged twice now, with two results); what is stored lies within its interval",
            style="yellow",
        )
        for item in found.unsteady
    ]
    if found.other_rules:
        lines.append(Text(found.other_rules, style="yellow"))
    count = len(found.differences)
    told = "all as stored" if not count else f"{count} differences"
    if found.unsteady and not count:
        told += ", or within its interval"
    lines.append(Text(f"{found.judged} judged again: {told}"))
    return lines


def degame_table(found: Sequence[SubmissionVariant]) -> Table:
    """Gamed and honest, side by side."""
    names = list(dict.fromkeys(n for item in found for n in item.judgement.measured.metrics))
    table = plain_table()
    for name in ("variant", "on judge's data", "on fresh data", "credited", *names, "flags"):
        table.add_column(name, overflow="fold")
    for item in found:
        word = item.judgement
        cells = [_metric(word.measured.metrics.get(name)) for name in names]
        kinds = ", ".join(dict.fromkeys(flag.kind for flag in word.flags))
        table.add_row(
            Text(item.name),
            Text(_measured(word.measured)),
            Text("-" if word.audited is None else _measured(word.audited)),
            Text(f"{word.fitness:.4g}"),
            *map(Text, cells),
            Text(kinds, style="red"),
        )
    return table


def contest_fields(contest: Contest) -> dict[str, Any]:
    """The fields of a contest in `--json`."""
    return {
        "title": contest.title,
        "exclusive": contest.exclusive,
        "settings": dict(contest.settings),
        "honest": list(contest.submissions.honest()),
        "cheats": {name: cheat.flag for name, cheat in contest.submissions.cheats().items()},
    }


def contest_table(found: Sequence[Contest]) -> Table:
    """One row for each contest."""
    table = plain_table(dict.fromkeys(("contest", "title", "honest", "cheats"), "fold"))
    for item in found:
        honest, cheats = ", ".join(item.submissions.honest()), ", ".join(item.submissions.cheats())
        table.add_row(*map(Text, (item.name, item.title, honest, cheats)))
    return table


def agent_table(agents: Mapping[str, str]) -> Table:
    """One row for each agent."""
    return plain_table({"agent": "whole", "what it is": "fold"}, agents.items())


def _head(record: TournamentRecord) -> Text:
    settings = record.settings
    done = sum(
        all(entry.state is EntryState.COMMITTED for entry in turn.entries) for turn in record.rounds
    )
    limits = f"{settings.time_limit_s:g} s and {settings.cost_limit_usd:g} USD a round"
    return Text(
        f"{settings.contest}: {settings.title}\n"
        f"{done} of {settings.rounds} rounds, seeding {settings.seeding}, {limits}\n"
        f"rules {settings.hash[:_SHORT]}\n"
        f"head {record.head} (note it down: `show --head` checks it later)"
    )


def _standings(record: TournamentRecord) -> Table:
    found = record.standings
    table = plain_table()
    columns = ["rank", "agent", "mean fitness", "best", "rating", "flagged"]
    optional = {
        "overruled": any(item.overruled for item in found),
        "declined": any(item.declined for item in found),
        "cheating rate": any(item.impossible for item in found),
        "checks": any(item.usage.checks for item in found),
        "tokens": any(item.usage.output_tokens for item in found),
        "USD": any(item.usage.cost_usd for item in found),
    }
    folding = {"mean fitness", "rating"}
    if max(len(label(item.agent)) for item in found) > _MAX_NAME:
        folding.add("agent")
    for name in (*columns, *(name for name, shown in optional.items() if shown)):
        table.add_column(name, no_wrap=name not in folding, overflow="fold")
    for item in found:
        style = "" if item.role is PlayerRole.AGENT else "dim"
        rate = f"{item.cheated}/{item.impossible}"
        rate += f"  [{item.cheating_low:.0%} … {item.cheating_high:.0%}]"
        cells = [
            _ranked(item),
            label(item.agent),
            *_mean_and_best(record, item),
            f"{item.rating:+.2f}  [{item.rating_low:+.2f} … {item.rating_high:+.2f}]",
            f"{item.flagged}/{item.rounds}",
        ]
        last = {
            "overruled": str(item.overruled),
            "declined": str(item.declined),
            "cheating rate": rate,
            "checks": str(item.usage.checks),
            "tokens": str(item.usage.input_tokens + item.usage.output_tokens),
            "USD": f"{item.usage.cost_usd:.2f}",
        }
        cells += [text for name, text in last.items() if optional[name]]
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _mean_and_best(record: TournamentRecord, item: Standing) -> tuple[str, str]:
    mine = [entry for entry in record.entries if entry.agent == item.agent]
    if measured_nothing(mine):
        return "nothing valid", "-"
    mean = f"{item.mean:.4g}  [{item.mean_low:.4g} … {item.mean_high:.4g}]"
    if item.judged_mean is not None:
        mean += f", as judged {item.judged_mean:.4g}"
    return mean, f"{item.best:.4g}"


def _ranked(item: Standing) -> str:
    if item.rank_low == item.rank_high:
        return str(item.rank)
    return f"{item.rank} ({item.rank_low}–{item.rank_high})"


def _rounds(rounds: Sequence[Round]) -> Table:
    table = plain_table()
    table.add_column("agent", overflow="fold", min_width=16)
    for turn in rounds:
        mark = " impossible" if turn.impossible else ""
        mark += f" {turn.discipline}" if turn.discipline else ""
        table.add_column(f"round {turn.number}{mark}", overflow="fold")
    for agent in dict.fromkeys(entry.agent for turn in rounds for entry in turn.entries):
        cells = [
            next((_fitness(entry) for entry in turn.entries if entry.agent == agent), Text("-"))
            for turn in rounds
        ]
        table.add_row(Text(label(agent)), *cells)
    return table


def _fitness(entry: Entry) -> Text:
    """Fitness, or what stands in its place."""
    if entry.state is not EntryState.COMMITTED:
        return Text(str(entry.state), style="dim")
    if entry.flags:
        kinds = ", ".join(dict.fromkeys(flag.kind for flag in entry.flags))
        return Text(f"flagged: {kinds}", style="red")
    if entry.declined:
        return Text("declined", style="cyan")
    if entry.measured is None or not entry.measured.valid:
        ended = entry.ended if entry.problem else None
        return Text(_WORDS.get(ended, "not valid") if ended else "not valid", style="yellow")
    mark = " (tainted)" if entry.tainted else ""
    told = both_numbers(entry)
    return Text(f"{told or f'{entry.fitness:.4g}'}{mark}", style="yellow" if mark or told else "")


def _reign(record: TournamentRecord, place: int) -> Text:
    reign = record.reigns[place]
    line = Text(
        f"champion of round {reign.round}: {label(reign.agent)}, {reign.fitness:.4g} "
        f"[{reign.low:.4g} … {reign.high:.4g}], {reign.digest[:_SHORT]}"
    )
    found = record.confirmation_of(reign)
    if found is not None:
        told = "confirmed" if found.held else "NOT confirmed"
        line.append(f"; {told} on fresh data: {_measured(found.confirmed)}")
    return line


def _measured(measured: Measurement) -> str:
    if not measured.valid:
        return measured.reason
    return f"{measured.fitness:.4g} [{measured.low:.4g} … {measured.high:.4g}]"


def _metric(value: float | str | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
