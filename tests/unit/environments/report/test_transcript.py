"""Transcripts: what agents wrote is text on the page, and values are plain."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.unit.environments.rectangles import RIGHT, rectangles

from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode
from unhack.environments.episode_pool import FinishedEpisode, play
from unhack.environments.report import transcript

pytestmark = pytest.mark.slow

SCRIPT = "<script>alert(1)</script>"


class Hostile:
    """Writes markup wherever it can, then solves the task."""

    async def act(self, episode: Episode) -> tuple[str, object]:
        calls: list[tuple[str, object]] = [
            ("write", {"path": "note.html", "text": SCRIPT}),
            ("run", {"command": f"echo '{SCRIPT}'; printf '\\033[31m\\0'"}),
            (SCRIPT, {}),
            ("write", {"path": "shapes/core.py", "text": RIGHT}),
            ("submit", {}),
        ]
        return calls[len(episode.turns)]


class Broken:
    """Raises at once."""

    async def act(self, episode: Episode) -> tuple[str, object]:
        raise RuntimeError(f"{SCRIPT} {episode.task.id}")


def episodes() -> list[FinishedEpisode]:
    async def main() -> list[FinishedEpisode]:
        async with RepositoryWorkshop(slots=1) as workshop:
            task = rectangles(statement=f"Mend {SCRIPT}")
            return [await play(workshop.begin(task), player) for player in (Hostile(), Broken())]

    return asyncio.run(main())


def test_a_page_shows_every_turn_and_runs_nothing() -> None:
    page = transcript.page(f"a {SCRIPT}", episodes())
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 5
    assert "1 (50%)" in page
    assert "def area(a, b):" in page
    assert "\x1b" not in page


def test_values_are_plain_and_hold_no_hidden_test() -> None:
    solved, broken = (json.dumps(transcript.as_values(one)) for one in episodes())
    assert "test_hidden" not in solved
    found = json.loads(solved)
    assert [turn["action"] for turn in found["turns"]] == [
        "write", "run", "(no action)", "write", "submit"
    ]  # fmt: skip
    assert (found["solved"], found["outcome"], found["seal"]) == (True, 1.0, "sealed")
    assert json.loads(broken)["status"] == "error"
