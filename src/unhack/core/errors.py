"""The errors of the package: every UnhackError, with the module that holds it where it is not this.

    UnhackError
    ├── UsageError              the caller's input is wrong; the message says what to change
    │   ├── TaskError           a task directory, case or option is wrong (names file and line)
    │   │   ├── CaseValueError  a case's value cannot cross (`unhack.verifiers.values.case_values`)
    │   │   ├── NoSoundRowError no row of a file is left (`unhack.tasks.loaders.proof`)
    │   │   └── NeedsImageError not built yet (`unhack.environments.sources.loaders.dockerfile`)
    │   ├── DisagreementError   a judge cannot tell a task solved (`unhack.environments.agreement`)
    │   ├── SplitRefusedError   no split pays steps (`unhack.environments.steps.development_split`)
    │   ├── GoldError           no answer to read (`unhack.verifiers.answers.gold`)
    │   ├── NotInstalledError   a package is missing; the message says how to get it
    │   ├── FieldError          a field of a request is wrong (`unhack.server.http.problems`)
    │   └── UnknownNameError    no such task, suite, estimator …; carries the nearest valid names
    ├── SandboxUnavailableError this host cannot isolate the job; the message names what helps
    ├── SandboxError            the machinery failed although the host could isolate
    │   ├── PoolClosedError     work was handed to a closed pool
    │   ├── ImageError          an image cannot be used (`unhack.sandbox.images.layout`)
    │   │   └── BuildError      a builder failed (`unhack.sandbox.images.build`)
    │   ├── NodeLostError       a node was lost (`unhack.tasks.execution.ray.cluster`)
    │   └── StoppedError        a call was given up (`unhack.tasks.execution.ray.cluster`)
    ├── SealError               a verifier did something that cannot cross the seal
    ├── VerifierFault           a verifier broke; its driver decides (`unhack.verifiers.base`)
    ├── BatchUnscoredError      too many items could not be scored; carries the batch
    ├── ServiceError            a server of ours refused (`unhack.server.client.service_error`)
    ├── DatabaseTakenError      another server has it (`unhack.server.database.database`)
    ├── StoreError              a run folder is in use, damaged or full (`unhack.store.errors`)
    ├── ModelError              a model gave no reply (`unhack.agents.language_models.replies`)
    ├── StateError              a step is out of order (`unhack.tournament.record.entry_state`)
    ├── JudgeError              a control of the judge failed (`unhack.tournament.round.turn`)
    ├── RanksDifferError        ranks hold unlike numbers (`unhack.training.loop.distributed`)
    └── DeploymentError         a quarantine is left (`unhack.training.adapters.deployment`)

A bad completion is a verdict, never an exception. What a module raises for its own caller to catch,
as `PlainDataError` for bytes that are no plain data or `Refused` for a submission that is not
measured, is private control flow: it stands beside the code that raises it and is no UnhackError.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class UnhackError(Exception):
    """Base of all errors of the package."""


class UsageError(UnhackError):
    """The caller's input is wrong.

    Example:

        if boxes < 1:
            raise UsageError(f"boxes is {boxes}; give at least 1")
    """


class NotInstalledError(UsageError):
    """A package that only some of unhack needs is not there; the words say how to get it.

    Example:

        raise NotInstalledError("a tournament needs scipy: pip install '.[tournament]'")
    """


class TaskError(UsageError):
    """A task, a case or a verifier option is wrong."""


_FEW_NAMES = 12
"""As many valid names are all given where none is near."""


class UnknownNameError(UsageError):
    """A name that is not known. The message has the nearest valid ones; where none is near, all of
    a few, or `listed` (where they are listed).

    Example:

        if name not in SIZES:
            raise UnknownNameError("size", name, valid=SIZES)
    """

    def __init__(self, kind: str, name: str, *, valid: Iterable[str], listed: str = "") -> None:
        names = sorted(valid)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        hint = f"; {listed}" if listed else ""
        if near:
            hint = f"; did you mean {', '.join(near)}?"
        elif 0 < len(names) <= _FEW_NAMES and not listed:
            hint = f"; there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}{hint}")
        self.name = name
        self.valid = names


class SandboxUnavailableError(UnhackError):
    """The host lacks what the requested isolation needs.

    Example:

        try:
            batch = run_batch(task, completions)
        except SandboxUnavailableError as error:
            print(error)  # what this host lacks, and how to get it
    """


class SandboxError(UnhackError):
    """The sandbox machinery itself failed.

    Example:

        try:
            outcome = run_one(shared_pool(), job)
        except SandboxError as error:
            print(f"the machine failed, not the completion: {error}")
    """


class PoolClosedError(SandboxError):
    """The worker pool is closed or being closed."""


class SealError(UnhackError):
    """Something that a verifier wanted cannot cross between judge and candidate."""


class BatchUnscoredError(UnhackError):
    """More than 1 % and more than 5 items of a batch could not be scored.

    `batch` holds everything that was scored.
    """

    def __init__(self, message: str, *, batch: Any) -> None:
        super().__init__(message)
        self.batch = batch


def with_article(value: object) -> str:
    """`an int`, `a dict`, `None`, `bytes`: the type of a value in a sentence of an error."""
    name = type(value).__name__
    if value is None or name in {"bytes", "bytearray"}:
        return "None" if value is None else name
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"
