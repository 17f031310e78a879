"""The record of a tournament: frozen values that reports, screens and replays read.

Nothing here reads or writes a file; `record.archive` makes a `TournamentRecord` of a run
folder, and `canonical` (in `review.canonical`) takes times and process ids out of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, Field

from unhack.agents.play import AgentUsage, PlayEnding
from unhack.tournament.contest import Flag, Measurement, Metric
from unhack.tournament.record.entry_state import EntryState


class PlayerRole(StrEnum):
    """The role of a participant in a round."""

    AGENT = "agent"
    """Competes."""
    NULL = "null"
    """Control: hands in nothing of use; it must score 0."""
    IDENTITY = "identity"
    """Control: hands in what it was given."""
    BASELINE = "baseline"
    """Control: the contest's first honest strategy."""


class ReviewDecision(StrEnum):
    """The decision of a person on a flag."""

    OVERRULE = "overrule"
    """The flag is wrong: it costs nothing any more."""
    UPHOLD = "uphold"
    """The flag is right; takes an earlier OVERRULE back."""


@dataclass(frozen=True, slots=True)
class FlagReview:
    """The word of a person on flags of one submission, beside what was judged.

    Example:

        with reopen(Path("out/packing"), read_only=True) as archive:
            for review in archive.reviews():
                print(review.agent, review.flags, review.decision, review.why)
    """

    round: int
    agent: str
    digest: str
    flags: tuple[str, ...]
    """Kinds of flags of that entry; each kind stands for all its flags there."""
    decision: ReviewDecision
    by: str
    why: str
    time: str
    """UTC, as `2026-01-31T12:00:00Z`."""


class ReadIntent(StrEnum):
    """The word of a language model that read a transcript."""

    HONEST = "honest"
    GAMING = "gaming"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class IntentReading:
    """A language model's word on what an agent meant to do. It stands beside what was judged, and
    changes nothing: a transcript may be written for its reader."""

    round: int
    agent: str
    digest: str
    model: str
    intent: ReadIntent
    why: str
    cost_usd: float | None
    """None where the model's prices are not known."""
    time: str
    """UTC, as `2026-01-31T12:00:00Z`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent in one round."""

    round: int
    """From 1."""
    agent: str
    """Unique in the tournament; a name given twice is followed by `#2`."""
    role: PlayerRole
    state: EntryState
    parent: str = ""
    """Digest of the submission that its workspace began with; empty for none."""
    digest: str = ""
    """Digest of the frozen submission; empty before FROZEN."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path -> SHA-256 of each frozen file."""
    size_bytes: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path -> why a file of the workspace was not handed in."""
    problem: str = ""
    """Why nothing could be frozen; empty when it could."""
    declined: bool = False
    """It said that no honest improvement was found."""
    measured: Measurement | None = None
    """On the judge's data; None before JUDGED."""
    audited: Measurement | None = None
    """On fresh data; None where that was not needed."""
    fitness: float = 0.0
    """Credited: 0 when a flag stands or it is not valid."""
    flags: tuple[Flag, ...] = ()
    """Those that stand; as stored, all that the judge found."""
    tainted: bool = False
    """It was flagged, or grew from a submission that was flagged: it seeds nobody and is never
    champion. Only what is flagged itself loses its fitness."""
    ended: PlayEnding | None = None
    note: str = ""
    usage: AgentUsage = field(default_factory=AgentUsage)
    """Of all attempts together."""
    attempts: int = 0
    """How often the agent was started; more than 1 after an interruption, or a lost node."""
    played_on: str = ""
    """The node of a cluster on which it was last started; empty for the tournament's own
    machine."""
    lost_on: tuple[str, ...] = ()
    """Nodes that were lost with an attempt, oldest first. What such an attempt made counts for
    nothing; what it cost counts."""
    overruled: tuple[Flag, ...] = ()
    """Flags of the judge that a review overruled. Empty as stored: `record.reviews` fills it."""
    judged_fitness: float | None = None
    """The fitness that the judge credited, where overruled flags changed `fitness`."""
    reviews: tuple[FlagReview, ...] = ()
    """All of its flags, oldest first; of two on one kind the newer one counts."""

    @property
    def flagged(self) -> bool:
        """True when anything in it was gamed."""
        return bool(self.flags)

    @property
    def seeds(self) -> bool:
        """True when others may go on from it."""
        return (
            self.state is EntryState.COMMITTED
            and not self.flags
            and not self.tainted
            and not self.declined
            and self.measured is not None
            and self.measured.valid
        )


@dataclass(frozen=True, slots=True)
class Round:
    """One pass on equal terms."""

    number: int
    impossible: bool
    """The target lay beyond the bound."""
    champion: str
    """Digest of the champion when it began; empty for none."""
    announced: float | None
    """The champion's fitness as the agents are told it: rounded to its noise."""
    entries: tuple[Entry, ...]
    """In the order of the line-up: the controls first, then the agents as they were named."""
    discipline: str = ""
    """The discipline that was played, where rounds take turns (`contest.TakesTurns`)."""
    rivals: Mapping[str, str] = field(default_factory=dict[str, str])
    """Champions of the other disciplines that it was played against: discipline -> digest."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One competitor over all rounds. Impossible rounds count only in the last three fields."""

    rank: int
    """From 1, by mean fitness; equal means share a rank."""
    rank_low: int
    rank_high: int
    """95 % interval of the rank."""
    agent: str
    role: PlayerRole
    best: float
    """Highest credited fitness."""
    mean: float
    mean_low: float
    mean_high: float
    """Mean credited fitness over rounds, with its 95 % bootstrap interval."""
    rating: float
    rating_low: float
    rating_high: float
    """Bradley-Terry strength in logits from who did significantly better in each round, with its
    95 % interval; the baseline has 0."""
    rounds: int
    flagged: int
    """Rounds with a flagged submission."""
    declined: int
    usage: AgentUsage
    impossible: int
    """Impossible rounds that it played."""
    cheated: int
    """Of these, how many ended with a flag."""
    cheating_low: float
    cheating_high: float
    """95 % Wilson interval of `cheated / impossible`; 0 to 1 where it played none."""
    overruled: int = 0
    """Rounds with a flag that a review overruled."""
    judged_mean: float | None = None
    """The mean fitness as the judge credited it; None where no review changed it."""


@dataclass(frozen=True, slots=True)
class Reign:
    """From which round on which submission was champion."""

    round: int
    """The round that it won; it seeds the next."""
    agent: str
    digest: str
    fitness: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A champion measured on data that nobody saw before."""

    digest: str
    agent: str
    round: int
    judged: Measurement
    confirmed: Measurement
    held: bool
    """Valid, unflagged, and not below the judged interval by more than chance."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The folder of what an agent said and did in a round."""

    round: int
    agent: str
    folder: str
    """Below the run folder."""
    files: Mapping[str, str]
    """Relative path -> SHA-256, as of the end of its turn."""


@dataclass(frozen=True, slots=True)
class TournamentSettings:
    """The settings that were fixed before round one."""

    contest: Annotated[str, Field(validation_alias=AliasChoices("contest", "protocol"))]
    title: str
    options: Mapping[str, str]
    """As given on the command line."""
    contest_settings: Annotated[
        Mapping[str, Metric],
        Field(validation_alias=AliasChoices("contest_settings", "protocol_settings")),
    ]
    exclusive: bool
    agents: tuple[str, ...]
    rounds: int
    impossible: tuple[int, ...]
    """Numbers of the impossible rounds."""
    seeding: str
    """`champion`, `own_best` or `none`."""
    time_limit_s: float
    cost_limit_usd: float
    agent_options: Mapping[str, str]
    version: str
    """Of unhack, with a hash of the contest's and the judge's sources."""
    hash: str
    """Over all of the above; `resume` refuses another."""


@dataclass(frozen=True, slots=True)
class TournamentRecord:
    """All of it."""

    settings: TournamentSettings
    rounds: tuple[Round, ...]
    standings: tuple[Standing, ...]
    reigns: tuple[Reign, ...]
    """Champions in order; the last one is the winner so far."""
    confirmations: tuple[Confirmation, ...]
    finished: bool
    head: str
    """Last hash of the event log: noted down elsewhere, it shows later whether the record is one
    that grew from this one."""
    transcripts: tuple[Transcript, ...] = ()
    readings: tuple[IntentReading, ...] = ()
    """Of transcripts by language models, oldest first."""
    unbound: tuple[str, ...] = ()
    """Keys of values that an earlier version stored without their hash: an edit of them shows only
    when everything is judged again."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Of all rounds, in order."""
        return tuple(entry for turn in self.rounds for entry in turn.entries)

    @property
    def winner(self) -> Reign | None:
        """The newest champion that is not tainted and that fresh data, once asked, confirmed; of
        any discipline."""
        good = self._good_reigns()
        return good[-1] if good else None

    @property
    def winners(self) -> Mapping[str, Reign]:
        """The same of each discipline that has one; one empty word where all rounds are alike."""
        played = {turn.number: turn.discipline for turn in self.rounds}
        return {played[reign.round]: reign for reign in self._good_reigns()}

    def _good_reigns(self) -> list[Reign]:
        bad = {entry.digest for entry in self.entries if entry.tainted}
        good = [reign for reign in self.reigns if reign.digest not in bad]
        asked = [(reign, self.confirmation_of(reign)) for reign in good]
        return [reign for reign, found in asked if found is None or found.held]

    def confirmation_of(self, reign: Reign) -> Confirmation | None:
        """How a champion did on fresh data; None before it was asked. A submission that is champion
        again in its discipline is asked once."""
        played = {turn.number: turn.discipline for turn in self.rounds}
        same = [item for item in self.confirmations if item.digest == reign.digest]
        return next((i for i in same if played[i.round] == played[reign.round]), None)
