"""Episodes as plain values, and as one page of HTML to read turn by turn, with pictures of what
they were paid over their turns and how long they took.

Covered: what agents and tasks wrote is text and nothing else; the page has no script and loads
nothing; its size is bounded, and it says what was left out.
Not covered: hidden tests and references, which no transcript holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from unhack.environments.actions import arguments_of, name_of
from unhack.environments.episode import Turn
from unhack.environments.episode_pool import FinishedEpisode
from unhack.reporting.chart import Axis, Chart, spread
from unhack.reporting.page import card, document, figure, legend, section, table, top
from unhack.reporting.text import safe

MAX_EPISODES = 500
"""Episodes on a page; of more, the first ones."""
_MAX_TEXT = 6_000
"""Characters of an observation or an argument."""
_MAX_PAGE = 12_000_000
_HEAD = "<h2>Turn by turn</h2>"


def as_values(played: FinishedEpisode) -> dict[str, Any]:
    """One episode as plain JSON values."""
    outcome = played.outcome
    return {
        "task": played.task.id,
        "index": played.index,
        "solved": played.solved,
        "outcome": outcome.score if outcome is not None else None,
        "status": outcome.status.value if outcome is not None else "error",
        "reason": outcome.reason if outcome is not None else played.error,
        "seal": outcome.seal.value if outcome is not None else None,
        "reward": played.reward,
        "unpaid": played.unpaid or None,
        "turns": [_turn(turn) for turn in played.turns],
    }


def _turn(turn: Turn) -> dict[str, Any]:
    name, arguments = _call(turn)
    return {
        "action": name,
        "arguments": arguments,
        "observation": turn.result.observation.to_json(),
        "reward": turn.result.reward,
        "process": dict(turn.result.process),
        "state_id": turn.result.state_id,
    }


def _call(turn: Turn) -> tuple[str, Any]:
    if turn.action is None:
        return "(no action)", repr(turn.said)[:1000]
    return name_of(turn.action), arguments_of(turn.action)


def page(title: str, episodes: Sequence[FinishedEpisode]) -> str:
    """The whole page: a summary, a table of episodes, and each of them turn by turn."""
    shown = list(episodes[:MAX_EPISODES])
    parts = [_summary(title, episodes), pictures(episodes), _overview(shown), _HEAD]
    room = _MAX_PAGE
    for number, played in enumerate(shown):
        html = _episode(number, played)
        room -= len(html)
        if room < 0:
            parts.append(card(f"{len(shown) - number} more episodes are not shown in full."))
            break
        parts.append(html)
    return document(f"unhack env: {title}", parts)


def _summary(title: str, episodes: Sequence[FinishedEpisode]) -> str:
    count = max(1, len(episodes))
    solved = sum(one.solved for one in episodes)
    unscored = sum(one.outcome is not None and not one.outcome.scored for one in episodes)
    turns = sum(len(one.turns) for one in episodes) / count
    figures = {
        "episodes": f"{len(episodes):,}",
        "solved": f"{solved:,} ({solved / count:.0%})",
        "turns an episode": f"{turns:.1f}",
        "unscored": f"{unscored:,}",
        "ended by the agent's own error": f"{sum(bool(one.error) for one in episodes):,}",
    }
    left = len(episodes) - MAX_EPISODES
    why = (
        f"The first {MAX_EPISODES} are shown." if left > 0 else "Each is shown turn by turn below."
    )
    return top(safe(title), why=why, figures=figures)


def _overview(episodes: Sequence[FinishedEpisode]) -> str:
    rows = [
        (
            f'<a href="#e{number}">{safe(one.task.id)}</a>',
            safe(_word(one)),
            f"{one.reward:.3f}",
            str(len(one.turns)),
            safe((one.error or (one.outcome.reason if one.outcome else ""))[:200]),
        )
        for number, one in enumerate(episodes)
    ]
    heads = ("task", "outcome", "reward", "turns", "reason")
    return section("Episodes", card(table(heads, rows, words=(0, 1, 4))))


def _word(played: FinishedEpisode) -> str:
    if played.outcome is None:
        return "error"
    return "solved" if played.solved else played.outcome.status.value


def _episode(number: int, played: FinishedEpisode) -> str:
    rows = [_row(at, turn) for at, turn in enumerate(played.turns, 1)]
    body = _pre(played.task.statement)
    body += table(("turn", "action", "observation", "reward", "files"), rows, words=(1, 2, 4))
    opened = " open" if number == 0 else ""
    return (
        f'<details class="card" id="e{number}"{opened}><summary>{safe(played.task.id)}: '
        f"{safe(_word(played))}, reward {played.reward:.3f}</summary>{body}</details>"
    )


def _row(at: int, turn: Turn) -> tuple[str, ...]:
    name, arguments = _call(turn)
    said = arguments if isinstance(arguments, str) else _shown_arguments(arguments)
    process = "".join(f"<br>{safe(key)} {value:.2f}" for key, value in turn.result.process.items())
    changed = turn.result.state_id != turn.before
    return (
        str(at),
        f"<b>{safe(name)}</b>{_pre(said)}",
        _pre(turn.result.observation.text),
        f"{turn.result.reward:+.3f}{process}",
        f"<code>{turn.result.state_id[:8]}</code>{' changed' if changed else ''}",
    )


def _shown_arguments(arguments: dict[str, Any]) -> str:
    lines = [
        f"{key}:\n{value}" if isinstance(value, str) and "\n" in value
        else f"{key}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in arguments.items()
    ]  # fmt: skip
    return "\n".join(lines)


def _pre(text: str) -> str:
    left = len(text) - _MAX_TEXT
    cut = f"\n[{left:,} characters more]" if left > 0 else ""
    return f"<pre>{safe(text[:_MAX_TEXT] + cut)}</pre>" if text else ""


_MOST = 200
_SIZE = (430.0, 300.0)


def pictures(episodes: Sequence[FinishedEpisode]) -> str:
    """The figures of a report as HTML; empty where no episode has a turn."""
    shown = [one for one in episodes[:_MOST] if one.turns]
    if not shown:
        return ""
    most = max(len(one.turns) for one in shown)
    kinds = {"solved": "tone-good", "not solved": "tone-bad"}
    note = (
        "Left: the sum of rewards so far, one line an episode. Right: reward and turns at the end."
    )
    if len(episodes) > _MOST:
        note += f" The first {_MOST} episodes."
    charts = [_paid(shown, most), _ends(shown, most)]
    return figure("Rewards", [one.svg() for one in charts], note=note, legend=legend(kinds))


def _paid(shown: Sequence[FinishedEpisode], most: int) -> Chart:
    sums = [[0.0, *accumulate(turn.result.reward for turn in one.turns)] for one in shown]
    values = [value for line in sums for value in line]
    axis = spread([*values, 0.0, 1.0], "reward so far")
    chart = Chart(Axis(0, most, "turn"), axis, "sum of rewards over turns", size=_SIZE)
    for one, line in zip(shown, sums, strict=True):
        chart.line([(float(at), value) for at, value in enumerate(line)], kind=_tone(one))
    return chart


def _ends(shown: Sequence[FinishedEpisode], most: int) -> Chart:
    axis = spread([*(one.reward for one in shown), 0.0, 1.0], "reward")
    chart = Chart(Axis(0, most + 1, "turns"), axis, "reward and turns of episodes", size=_SIZE)
    for one in shown:
        told = f"{one.task.id}: {one.reward:.3f} after {len(one.turns)} turns"
        chart.point((len(one.turns), one.reward), told, kind=_tone(one), shape="speck")
    return chart


def _tone(one: FinishedEpisode) -> str:
    return "tone-good" if one.solved else "tone-bad"
