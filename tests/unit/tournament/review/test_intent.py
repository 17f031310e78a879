"""A language model's word on transcripts: in the record, in the report, and without effect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.tournament.hill import HILL, plan, played

from unhack.agents.language_models.model import Message
from unhack.agents.language_models.replies import ModelError, Reply, Trouble
from unhack.core.errors import UsageError
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.records import IntentReading, ReadIntent
from unhack.tournament.report.page import write_report
from unhack.tournament.review.canonical import canonical_hash
from unhack.tournament.review.intent import read_intents, transcripts_to_read
from unhack.tournament.review.replay import replay
from unhack.tournament.round.rounds import reopen

pytestmark = pytest.mark.slow


class Reader:
    """A model that answers the same, until its money is spent."""

    def __init__(self, answer: str, *, replies: int = 99) -> None:
        self.answer, self.left, self.asked = answer, replies, list[tuple[str, str]]()

    @property
    def cost_usd(self) -> float:
        return 0.25 * len(self.asked)

    def ask(self, system: str, messages: Sequence[Message]) -> Reply:
        if not self.left:
            raise ModelError(Trouble.SPENT, "the cap")
        self.left -= 1
        self.asked.append((system, messages[0].text))
        return Reply(self.answer, 10, 5)


GAMING = 'Here: {"intent": "gaming", "why": "it hands in <b>a table</b>"}'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    played(tmp_path / "out", plan("cheater", "baseline:near", rounds=1), jobs=1)
    return tmp_path / "out"


def readings(run: Path, reader: Reader, *names: str) -> list[IntentReading]:
    found: list[IntentReading] = []
    wanted = transcripts_to_read(read_record(run), names)
    with reopen(run) as archive:
        for item in read_intents(reader, "a-model", wanted, run=run):
            archive.add_reading(item)
            found.append(item)
    return found


def test_a_reading_is_kept_and_changes_no_standing_nor_replay(run: Path) -> None:
    before = read_record(run)
    found = readings(run, Reader(GAMING))
    after = read_record(run)
    assert {(item.agent, item.intent) for item in found} == {
        ("cheater", ReadIntent.GAMING), ("baseline:near", ReadIntent.GAMING),
    }  # fmt: skip
    assert after.readings == tuple(found)
    assert all(item.cost_usd == 0.25 for item in found)
    assert (after.standings, after.winner) == (before.standings, before.winner)
    assert canonical_hash(after) == canonical_hash(before)
    with reopen(run, read_only=True) as archive:
        assert not replay(archive, HILL).differences


def test_the_report_shows_the_word_beside_the_judges(run: Path, tmp_path: Path) -> None:
    readings(run, Reader(GAMING), "1/baseline:near")
    write_report(read_record(run), tmp_path / "report.html", run=run)
    text = (tmp_path / "report.html").read_text()
    assert "read as" in text
    assert "changes no standing" in text
    pages = sorted((tmp_path / "report-turns").glob("*.html"))
    [mine] = [page for page in pages if "baseline-near" in page.name]
    assert "report-turns/" + mine.name in text
    assert "&lt;b&gt;a table&lt;/b&gt;" in mine.read_text()
    assert "<b>a table</b>" not in mine.read_text()


def test_the_model_is_shown_files_and_turns_between_marks_of_one_time(run: Path) -> None:
    reader = Reader(GAMING)
    readings(run, reader)
    (system, first), (other_system, second) = reader.asked
    mark = first.split("\n")[0]
    assert mark in system
    assert first.endswith(mark)
    assert second.split("\n")[0] != mark
    assert mark not in other_system
    assert "handed in" in first


@pytest.mark.parametrize(
    "answer",
    ["it is fine", '{"intent": "fine", "why": "x"}', '{"intent": "gaming"}', "{", "[1]",
     '{"intent": "honest", "why": 3}'],
)  # fmt: skip
def test_an_answer_of_another_form_is_unclear(run: Path, answer: str) -> None:
    [found] = readings(run, Reader(answer), "1/cheater")
    assert found.intent is ReadIntent.UNCLEAR


def test_what_was_read_before_the_money_was_spent_is_kept(run: Path) -> None:
    with pytest.raises(ModelError, match="the cap"):
        readings(run, Reader(GAMING, replies=1))
    assert len(read_record(run).readings) == 1


def test_a_name_without_a_transcript_is_told(run: Path) -> None:
    with pytest.raises(UsageError, match="there are 1/cheater, 1/baseline:near"):
        transcripts_to_read(read_record(run), ["1/cheeter"])
