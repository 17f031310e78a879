"""A person's word on flags: appended to the record, beside what was judged, which stays.

Covered: one kind of flag of a submission or all of them; overruling, upholding, and one after the
other; who, why and when. The ledger's chain vouches for a review as for every other value.
Not covered: whether the person is who they say; flags of a confirmation.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from unhack.core.errors import UsageError
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.outcome import label
from unhack.tournament.record.records import Entry, FlagReview, ReviewDecision

_MOST = 4000
"""Letters of a name or of a reason."""


def find_entry(entries: Sequence[Entry], name: str) -> Entry:
    """The entry of `ROUND/AGENT`, by the agent's whole or short name. Raises UsageError."""
    number, _, agent = name.partition("/")
    mine = [entry for entry in entries if str(entry.round) == number]
    found = [entry for entry in mine if entry.agent == agent]
    found = found or [entry for entry in mine if label(entry.agent) == agent]
    if len(found) == 1:
        return found[0]
    flagged = [f"{e.round}/{label(e.agent)}" for e in entries if e.flags or e.overruled]
    known = f"flagged: {', '.join(flagged[:8])}" if flagged else "no submission was flagged"
    why = "fits more than one" if found else "is no ROUND/AGENT of this tournament"
    raise UsageError(f"submission {name!r} {why}; {known}")


def review_flags(
    archive: Archive, name: str, *, kind: str, decision: ReviewDecision, by: str, why: str
) -> Entry:
    """Append a review of the flags `kind` of a submission, all of its flags where that is empty.

    Returns the entry as it stands then. Raises UsageError for a submission that is not judged to
    its end, a flag that it does not have, or a review without name or reason; StoreError.
    """
    entry = find_entry(archive.entries(reviews=0), name)
    if entry.state is not EntryState.COMMITTED:
        raise UsageError(f"{name} is {entry.state}: review it when it is committed")
    kinds = tuple(dict.fromkeys(flag.kind for flag in entry.flags))
    if not kinds:
        raise UsageError(f"{name} has no flag: there is nothing to review")
    if kind and kind not in kinds:
        raise UsageError(f"{name} has no flag {kind!r}; its flags: {', '.join(kinds)}")
    item = FlagReview(
        entry.round,
        entry.agent,
        entry.digest,
        (kind,) if kind else kinds,
        decision,
        _said("--by", by),
        _said("--why", why),
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    archive.review(item)
    return find_entry(archive.entries(), name)


def same_elsewhere(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    """Other entries with the same files whose flags stand: they keep its lineage tainted."""
    place = (entry.round, entry.agent)
    return [e for e in entries if e.digest == entry.digest and e.flags
            and (e.round, e.agent) != place]  # fmt: skip


def _said(option: str, text: str) -> str:
    text = text.strip()
    if not text or len(text) > _MOST:
        raise UsageError(f"{option}: 1 to {_MOST} letters are needed, there are {len(text)}")
    return text
