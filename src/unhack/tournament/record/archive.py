"""A tournament in its run folder: what is stored under which name, and the record made of it.

settings            fixed before round one
round/0001          terms of a round, and whether it is closed
entry/0001/00       one participant of it, by number
transcript/0001/00  hashes of what that participant said and did
confirmation/0001/DIGEST   the champion of a round on data that were never used
review/000001       what a person said of flags; appended, and never changed
reading/000001      what a language model said of a transcript; the same
finished            when all is done

DIR/submissions/DIGEST/   frozen files (`unhack.tournament.judging.submission`)
DIR/transcripts/          what agents said and did, by round, agent and attempt
DIR/memory/               what agents keep from round to round
DIR/meters/               what the attempt under way has cost so far
DIR/work/                 workspaces of agents at work
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import TypeAdapter

from unhack.core.errors import UsageError
from unhack.store.errors import StoreError, storing
from unhack.store.ledger import Ledger
from unhack.tournament.contest import Contest
from unhack.tournament.judging.submission import inspect
from unhack.tournament.record.entry_state import EntryState, check_step
from unhack.tournament.record.kept_files import check_submissions, check_transcripts, file_hashes
from unhack.tournament.record.lineage import mark_tainted
from unhack.tournament.record.records import (
    Confirmation,
    Entry,
    FlagReview,
    IntentReading,
    Reign,
    Round,
    TournamentRecord,
    TournamentSettings,
    Transcript,
)
from unhack.tournament.record.reviews import apply_reviews, reviewed_standings

_T = TypeVar("_T")
_SETTINGS = TypeAdapter(TournamentSettings)
_ENTRY = TypeAdapter(Entry)
_REVIEW = TypeAdapter(FlagReview)
_READING = TypeAdapter(IntentReading)
_REIGNS = TypeAdapter(list[Reign])
_CONFIRMATION = TypeAdapter(Confirmation)


class Archive:
    """Reads and writes one tournament. Threads may share it."""

    def __init__(self, folder: Ledger) -> None:
        self.folder = folder
        self._checked: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.folder.path

    @property
    def settings(self) -> TournamentSettings:
        """Raises UsageError where no tournament was begun."""
        stored = self.folder.get("settings")
        if stored is None:
            raise UsageError(f"{self.path}: no tournament was begun in this folder")
        return _read(_SETTINGS, stored)

    @property
    def finished(self) -> bool:
        """True when all is done."""
        return bool(self.folder.get("finished"))

    def begin(self, settings: TournamentSettings) -> None:
        """Fix the settings."""
        self.folder.change("begun", {"settings": _plain(_SETTINGS, settings)}, hash=settings.hash)

    def entries(self, number: int | None = None, *, reviews: int | None = None) -> list[Entry]:
        """Of one round or of all, in order, with the marks of their lineage.

        Only the first `reviews` reviews count: 0 for what was judged, None for all of them.
        """
        judged = self._listed("entry", _ENTRY)
        known = mark_tainted(apply_reviews(judged, self.reviews()[:reviews]))
        return [entry for entry in known if number in (None, entry.round)]

    def entries_at(self, number: int) -> list[Entry]:
        """All entries by the reviews that were there when a round was opened: what is judged in it
        rests on them, also when it is judged again."""
        terms = self.terms(number)
        return self.entries(reviews=None if terms is None else terms.get("reviews", 0))

    def reviews(self) -> list[FlagReview]:
        """Reviews of flags, oldest first."""
        return self._listed("review", _REVIEW)

    def review(self, item: FlagReview) -> None:
        """Append a review."""
        key = f"review/{len(self.folder.under('review/')) + 1:06d}"
        told = {"round": item.round, "agent": item.agent, "decision": str(item.decision)}
        self.folder.change("reviewed", {key: _plain(_REVIEW, item)}, **told, by=item.by)

    def readings(self) -> list[IntentReading]:
        """Readings of transcripts by language models, oldest first."""
        return self._listed("reading", _READING)

    def add_reading(self, item: IntentReading) -> None:
        """Append a reading."""
        key = f"reading/{len(self.folder.under('reading/')) + 1:06d}"
        told = {"round": item.round, "agent": item.agent, "intent": str(item.intent)}
        self.folder.change("read", {key: _plain(_READING, item)}, **told, model=item.model)

    def put(
        self,
        entry: Entry,
        *,
        participant: int,
        before: EntryState | None,
        transcript: Path | None = None,
        **told: Any,
    ) -> None:
        """Store a step of an entry, and the hashes of its transcript, a folder of this one.

        Raises StateError when it is out of order.
        """
        check_step(before, entry.state)
        place = f"{entry.round:04d}/{participant:02d}"
        values = {f"entry/{place}": _plain(_ENTRY, entry)}
        if transcript is not None:
            with storing(self.path):
                files = file_hashes(transcript)
            name = transcript.relative_to(self.path).as_posix()
            values[f"transcript/{place}"] = {"folder": name, "agent": entry.agent, "files": files}
        self.folder.change(
            f"entry.{entry.state}",
            values,
            round=entry.round,
            agent=entry.agent,
            **told,
        )

    def open_round(
        self,
        number: int,
        *,
        discipline: str,
        champion: str,
        announced: float | None,
        rivals: Mapping[str, str],
    ) -> None:
        """Fix the terms of a round; `rivals` are digests by discipline."""
        value: dict[str, Any] = {
            "discipline": discipline,
            "champion": champion,
            "announced": announced,
            "rivals": dict(rivals),
            "closed": False,
            "reigns": [],
            "reviews": len(self.reviews()),
        }
        self.folder.change("round.opened", {_round(number): value}, round=number, champion=champion)

    def close_round(self, number: int, *, reign: Reign | None) -> None:
        """A round is over, and has a new champion or none."""
        crowned = _plain(_REIGNS, [] if reign is None else [reign])
        value = {**self.folder.get(_round(number)), "closed": True, "reigns": crowned}
        self.folder.change(
            "round.closed", {_round(number): value}, round=number, reign=reign and reign.digest
        )

    def terms(self, number: int) -> dict[str, Any] | None:
        """`discipline`, `champion`, `announced`, `rivals`, `closed` of a round; None before it was
        opened."""
        return self.folder.get(_round(number))

    def reigns(self) -> list[Reign]:
        """Champions in order."""
        stored = sorted(self.folder.under("round/").items())
        return [reign for _, value in stored for reign in _read(_REIGNS, value["reigns"])]

    def confirmations(self) -> list[Confirmation]:
        """In the order of the rounds that the champions won."""
        found = self._listed("confirmation", _CONFIRMATION)
        return sorted(found, key=lambda item: (item.round, item.digest))

    def confirm(self, item: Confirmation) -> None:
        """Store a confirmation."""
        key = f"confirmation/{item.round:04d}/{item.digest}"
        self.folder.change(
            "confirmed", {key: _plain(_CONFIRMATION, item)}, digest=item.digest, held=item.held
        )

    def finish(self) -> None:
        """All is done."""
        self.folder.change("finished", {"finished": True})

    def transcripts(self) -> list[Transcript]:
        """Those of agents that have ended, in order."""
        stored = self.folder.under("transcript/")
        return [
            Transcript(int(key.split("/")[1]), value["agent"], value["folder"], value["files"])
            for key, value in stored.items()
        ]

    def check_files(self) -> None:
        """Hold submissions and transcripts against the record. Raises StoreError."""
        check_submissions(self.path, self.entries())
        check_transcripts(self.path, {item.folder: item.files for item in self.transcripts()})

    def _listed(self, kind: str, adapter: TypeAdapter[_T]) -> list[_T]:
        """The stored values of a kind in the order of their keys."""
        return [_read(adapter, value) for _, value in sorted(self.folder.under(f"{kind}/").items())]

    def room(self, *parts: str) -> Path:
        """A directory of the run folder, made where it is missing. Raises StoreError."""
        path = self.path.joinpath(*parts)
        with storing(self.path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

    def submission(self, digest: str, contest: Contest) -> Path:
        """The folder of a frozen submission, checked against its digest once in a process.

        Raises StoreError where it is missing or was changed.
        """
        path = self.path / "submissions" / digest
        if digest not in self._checked:
            with storing(self.path):
                found = inspect(path, contest) if path.is_dir() else None
            if found is None or found.digest != digest:
                told = "was changed" if found else "is missing"
                raise StoreError(f"{path}: this submission {told}; restore the folder from a copy")
            self._checked.add(digest)
        return path

    def record(self) -> TournamentRecord:
        """All that is stored, up to now."""
        settings = self.settings
        confirmations = self.confirmations()
        gamed = frozenset(item.digest for item in confirmations if item.confirmed.flags)
        entries = mark_tainted(self.entries(), gamed=gamed)
        rounds: list[Round] = []
        for number in range(1, settings.rounds + 1):
            terms = self.terms(number)
            if terms is None:
                break
            mine = tuple(entry for entry in entries if entry.round == number)
            impossible = number in settings.impossible
            rounds.append(
                Round(
                    number,
                    impossible,
                    terms["champion"],
                    terms["announced"],
                    mine,
                    terms.get("discipline", ""),
                    terms.get("rivals", {}),
                )
            )
        return TournamentRecord(
            settings,
            tuple(rounds),
            reviewed_standings(rounds),
            tuple(self.reigns()),
            tuple(confirmations),
            self.finished,
            self.folder.head,
            tuple(self.transcripts()),
            tuple(self.readings()),
            self.folder.unbound,
        )


def read_record(path: Path, *, head: str = "") -> TournamentRecord:
    """The record of a run folder, which another process may be at work in, and its files checked.

    `head` is the hash of an event that was noted down earlier, or its first digits: the record has
    to be one that grew from it. Raises UsageError where there is none, StoreError where it is
    damaged, was changed, does not have that event, or is not accessible.
    """
    with Ledger(path, read_only=True) as folder:
        archive = Archive(folder)
        record = archive.record()
        archive.check_files()
        if head and not any(event.hash.startswith(head.lower()) for event in folder.events):
            raise StoreError(
                f"{path}: no event of the record has the head {head}: events were taken back, or "
                "the record was written anew since that head was noted down"
            )
        return record


def _round(number: int) -> str:
    return f"round/{number:04d}"


def _plain(adapter: TypeAdapter[Any], value: Any) -> Any:
    return adapter.dump_python(value, mode="json")


def _read(adapter: TypeAdapter[_T], value: Any) -> _T:
    return adapter.validate_python(value)
