"""Two processes for one completion: the candidate answers calls, the judge's script makes them.

Covered: the solution's code and the script never meet; neither process holds the other's
descriptors; the judge's result comes over a channel of its own.
Not covered: what cannot cross (see `guest.judge.proxies` and the modules beside it) ends as a
fault that says so, and the completion is judged by the control of rule 2.
"""

from __future__ import annotations

import socket
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unhack.core.completion import MAX_CHARS, Extraction, extract_code
from unhack.core.fences import fenced_blocks
from unhack.core.verdict import CaseResult, Seal, Status, Verdict
from unhack.sandbox.job import Ending, Job, Kind, Outcome, Profile, Role
from unhack.sandbox.limits import Limits
from unhack.verifiers import jobs
from unhack.verifiers.base import VerifierFault
from unhack.verifiers.jobs import bad_ending, read_claims, require_sandbox, verdict_of

_TRIES = 3


@dataclass(frozen=True, slots=True)
class SealedPair:
    """The observations of the two halves."""

    judge: Outcome
    candidate: Outcome
    lines: list[list[Any]]
    """The judge's result lines."""

    @property
    def timed_out(self) -> bool:
        """True when the judge waited for the candidate for as long as it was to."""
        return any(line[:2] == [None, "timeout"] for line in self.lines)


@dataclass(frozen=True, slots=True)
class SolutionTree:
    """A solution of several files with folders, whose packages are imported as packages."""

    files: Mapping[str, bytes]
    """Relative path -> content: all that the candidate's process has."""
    roots: tuple[str, ...] = ("",)
    """Folders that modules are looked for in; "" is the top."""
    packages: tuple[str, ...] = ()
    """First parts of the names under which the judge imports the candidate's modules."""
    first: tuple[str, ...] = ()
    """Modules that are imported before the judge asks for anything."""
    preload: tuple[str, ...] = ()
    """Installed packages that the candidate may import."""


def judge_limits(limits: Limits) -> Limits:
    """The judge waits for the candidate, so it gets more time; it has at least 1 GiB.

    It is also the candidate's own wall limit: the candidate may have to wait until the judge has a
    slot. How long the judge waits for the candidate's answers is bounded by the task's limit.
    """
    return limits.with_(
        wall_s=2 * limits.wall_s + 10,
        cpu_s=2 * limits.cpu_s + 10,
        wall_hard_s=2 * limits.wall_hard_s + 10,
        memory_bytes=max(limits.memory_bytes, 1 << 30),
    )


def run_pair(
    mode: str,
    fields: Mapping[str, Any],
    solution: Mapping[str, str] | SolutionTree,
    *,
    limits: Limits,
    preload: tuple[str, ...],
    packages: tuple[str, ...] = (),
) -> Generator[list[Job], Any, SealedPair]:
    """Run a judge's script against a sealed candidate: single modules, which may import `packages`,
    or a tree of files; once more, with more patience, when the candidate was late for want of a
    core. Raises VerifierFault when the sandbox fails."""
    tree = solution if isinstance(solution, SolutionTree) else None
    modules: Mapping[str, str] = {} if isinstance(solution, SolutionTree) else solution
    message: dict[str, Any] = {
        **fields,
        **({"packages": tree.packages, "roots": tree.roots} if tree else {}),
        "installed": tree.preload if tree else packages,
        "modules": dict.fromkeys(modules, ""),
        "as_written": False,
    }
    patient = limits
    judge_profile = Profile(kind=Kind.SCRATCH, role=Role.JUDGE, preload=preload, site_packages=True)
    candidate_profile = Profile(preload=packages)
    if tree:
        candidate_profile = Profile(kind=Kind.SCRATCH, preload=tree.preload)
    for left in reversed(range(_TRIES)):
        message["wait_s"] = patient.wall_s
        candidate_end, judge_end = socket.socketpair()
        pair = [
            jobs.serve(
                modules,
                peer=candidate_end.detach(),
                limits=patient.with_(wall_s=judge_limits(patient).wall_s),
                profile=candidate_profile,
                tree=tree and _tree_fields(tree),
            ),
            jobs.judge(
                mode,
                message,
                limits=judge_limits(patient),
                profile=judge_profile,
                peer=judge_end.detach(),
            ),
        ]
        candidate, judge = yield pair
        if Ending.BROKEN in (candidate.ending, judge.ending):
            continue
        seen = SealedPair(judge, candidate, jobs.result_lines(judge.result))
        if not (seen.timed_out and candidate.patience > 1 and patient is limits and left):
            return seen
        patient = limits.with_(
            wall_s=candidate.patience * limits.wall_s,
            wall_hard_s=limits.wall_hard_s - candidate.wall_s,
        )
    raise VerifierFault(f"the sandbox failed {_TRIES} times")


def _tree_fields(tree: SolutionTree) -> dict[str, Any]:
    return {
        "files": jobs.encode_files(tree.files),
        "roots": tree.roots,
        "packages": tree.packages,
        "first": tree.first,
    }


def run_as_written(
    mode: str, fields: Mapping[str, Any], solution: Mapping[str, str] | SolutionTree, *,
    limits: Limits, preload: tuple[str, ...],
) -> Generator[list[Job], Any, SealedPair]:  # fmt: skip
    """Run script and solution in one process, inside the sandbox, as the script's author does."""
    message: dict[str, Any] = {**fields, "modules": {}, "as_written": True}
    if isinstance(solution, SolutionTree):
        message |= {"tree": jobs.encode_files(solution.files), "roots": solution.roots}
    else:
        message["modules"] = dict(solution)
    profile = Profile(kind=Kind.PROGRAM, preload=preload, site_packages=True)
    [outcome] = yield [jobs.judge(mode, message, limits=limits, profile=profile)]
    require_sandbox(outcome)
    return SealedPair(outcome, outcome, jobs.result_lines(outcome.result))


def candidate_failure(pair: SealedPair) -> tuple[Status, str] | None:
    """The status and reason when the sealed candidate could not be loaded, or ended before the
    judge had done with it and the judge has no score. The completion's own doing: no control is
    needed."""
    failure = read_claims(pair.candidate.result, 0).failure
    judged = any(line[0] is not None for line in pair.lines)
    if pair.timed_out:
        return Status.TIMEOUT, "wall time limit reached"
    bad = bad_ending(pair.candidate)
    if bad is not None and (failure is not None or not judged):
        return bad
    if failure is not None:
        return (Status.ERROR if failure[0] == "load" else Status.INVALID), failure[1]
    if not judged and pair.candidate.exit_code:  # one that was stopped has none
        return Status.ERROR, f"exited with code {pair.candidate.exit_code}"
    ended = next((line for line in pair.lines if line[:2] == [None, "ended"]), None)
    if ended is not None:
        return Status.ERROR, f"the solution's process ended: {': '.join(map(str, ended[2:]))[:300]}"
    return None


def read_judge_lines(pair: SealedPair, *, sealed: bool) -> list[list[Any]]:
    """The judge's lines. Raises VerifierFault when the judge could not judge."""
    for line in pair.lines:
        if line[0] is None:
            raise VerifierFault(f"the verifier script: {': '.join(map(str, line[1:]))[:600]}")
    if pair.lines:
        return pair.lines
    bad = bad_ending(pair.judge)
    text = bad[1] if bad else f"it ended with code {pair.judge.exit_code} and no result"
    if sealed or bad is None:
        raise VerifierFault(f"the verifier script: {text}")
    return []


def judged_lines(pair: SealedPair, *, seal: Seal) -> list[list[Any]] | Verdict:
    """The judge's lines, or the verdict on a completion that never came to be judged. Raises
    VerifierFault when the judge could not judge."""
    is_sealed = seal is Seal.SEALED
    failure = candidate_failure(pair) if is_sealed else None
    if failure is None:
        lines = read_judge_lines(pair, sealed=is_sealed)
        if lines:
            return lines
        failure = bad_ending(pair.judge)
        assert failure is not None
    return verdict_of(pair.candidate, failure, seal=seal)


def conclude(
    pair: SealedPair, score: float, reason: str, *, seal: Seal, cases: Sequence[CaseResult] = ()
) -> Verdict:
    """The verdict of a script that gave a score."""
    judged = (Status.PASSED, reason)
    if score != 1.0:
        judged = bad_ending(pair.candidate) or (Status.FAILED, reason)
    return verdict_of(pair.candidate, judged, score=score, cases=cases, seal=seal)


def solution_modules(
    completion: str, files: Sequence[str], how: Extraction
) -> Mapping[str, str] | None:
    """Module name -> source of the declared candidate files; None when one is missing.

    One file: the code of the completion. Several: fenced blocks whose info string names the file,
    as in ```` ```python parser.py ````; the last block of a name counts.
    """
    if len(files) == 1:
        source = extract_code(completion, how=how)
        return None if source is None else {module_name(files[0]): source}
    if len(completion) > MAX_CHARS:
        return None
    named = {block.name: block.code for block in fenced_blocks(completion)}
    if not set(files) <= set(named):
        return None
    return {module_name(name): named[name] for name in files}


def solution_tree(completion: str, files: Sequence[str], how: Extraction) -> SolutionTree | None:
    """The declared candidate files as a tree; None when one is missing. Files that lie below `src`
    are imported from there."""
    found = solution_modules(completion, files, how)
    if found is None:
        return None
    root = root_of(files)
    modules = [dotted_name(name, root) for name in files if name.endswith(".py")]
    return SolutionTree(
        {name: found[module_name(name)].encode("utf-8", "surrogatepass") for name in files},
        (root,),
        tuple(dict.fromkeys(name.partition(".")[0] for name in modules)),
        tuple(modules),
    )


def root_of(files: Sequence[str]) -> str:
    """`src` where all files lie below it, else the top."""
    return "src" if all(name.startswith("src/") for name in files) else ""


def dotted_name(file: str, root: str = "") -> str:
    """`src/pkg/core.py` -> `pkg.core`; `pkg/__init__.py` -> `pkg`."""
    inner = file.removeprefix(f"{root}/") if root else file
    return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def check_names(objects: Sequence[str]) -> None:
    """Raise ValueError unless every declared class is a name that a solution can define."""
    if isinstance(objects, str):
        raise ValueError(f'objects is a list of class names; write objects = ["{objects}"]')
    for name in objects:
        if not name.isidentifier() or name.startswith("_"):
            raise ValueError(f"objects: {name!r} is not the name of a class of the solution")


def module_name(file: str) -> str:
    """`parser.py` -> `parser`."""
    return file.removesuffix(".py")
