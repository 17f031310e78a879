"""The score of a submission without its trick.

The contest makes variants of it with the gamed part stripped or swapped; all of them are measured
on the same data, and on fresh data, beside the submission as it was handed in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.store.errors import storing
from unhack.tournament.contest import Contest, Terms
from unhack.tournament.judging.judge import Known, Seeds, SubmissionJudgement, judge
from unhack.tournament.judging.submission import freeze, inspect, write_files
from unhack.tournament.record.records import Entry, TournamentRecord
from unhack.tournament.record.seeds import derive


@dataclass(frozen=True, slots=True)
class SubmissionVariant:
    """A submission as it was, or with something taken out."""

    name: str
    """`as handed in`, or what was done to it."""
    judgement: SubmissionJudgement


def find_submission(record: TournamentRecord, name: str) -> Entry:
    """The entry of a digest, of its first digits, or of `ROUND/AGENT`. Raises UsageError."""
    frozen = [entry for entry in record.entries if entry.digest]
    number, slash, agent = name.partition("/")
    if slash:
        found = [e for e in frozen if (str(e.round), e.agent) == (number, agent)]
    else:
        found = [e for e in frozen if len(name) >= 4 and e.digest.startswith(name)]
    if len({entry.digest for entry in found}) != 1:
        known = ", ".join(f"{e.round}/{e.agent}" for e in frozen[:8])
        reason = "fits more than one" if found else "is not here"
        raise UsageError(f"submission {name!r} {reason}; name a digest, or one of {known} …")
    return found[0]


def degame(
    contest: Contest,
    folder: Path,
    *,
    secret: bytes,
    watch: Callable[[str], None] = lambda name: None,
) -> list[SubmissionVariant]:
    """The submission and its variants, judged on the same data.

    Raises UsageError where nothing of it could be frozen or it declined, SandboxError, StoreError.
    """
    frozen = inspect(folder, contest)
    if frozen.problem or frozen.declined:
        raise UsageError(f"there is nothing to strip: {frozen.problem or 'it declined'}")
    seeds = Seeds(
        derive(secret, "degame", frozen.digest), derive(secret, "degame audit", frozen.digest)
    )
    found: list[SubmissionVariant] = []
    with tempfile.TemporaryDirectory(prefix="unhack-degame-") as place, storing(Path(place)):
        folders = {"as handed in": folder}
        for name, files in contest.submissions.degamed(folder).items():
            workspace = Path(place) / f"variant-{len(folders)}"
            write_files(files, workspace)
            folders[name] = freeze(workspace, contest, into=Path(place) / "frozen").folder
        for name, one in folders.items():
            watch(name)
            word = judge(contest, one, seeds=seeds, terms=Terms(1), known=Known())
            found.append(SubmissionVariant(name, word))
    return found
