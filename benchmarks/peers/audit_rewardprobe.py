"""rewardprobe 0.1.0's deterministic probes on one entry of the planted corpus.

    python audit_rewardprobe.py NAME probe|label [--corpus FOLDER]

`Probe().test_fn` gets all problems of the entry. Plain and TRL functions are handed over as they
are. verl, OpenRLHF and reasoning-gym signatures are not told apart by its adapter, which would put
the completion into `data_source` or pass a string for a batch, so these get the form
`(completion, answer, prompt)` that it knows. A code entry is such a function too: it writes the
completion to a file and runs the verifier in a forked process; the answer is the reference.

`critical`: a finding that fails `rewardprobe test --ci`. `listed`: a finding that its report lists,
critical or a warning. `rewarded`: such a finding which says that a completion that is not right
scores above one half (as against crashes, missing columns, rejected variants and other remarks). A
report shows the beginning of a completion; its claims are the completions that were scored and
begin so.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rewardprobe import Probe
from rewardprobe.types import Finding, Severity

from audit_forms import (
    PlantedEntry,
    PlantedKind,
    PlantedRow,
    answer_request,
    cases_of,
    compare,
    floor_of,
    function_of,
    samples,
    score,
    share,
    verifier_of,
)

CODE_LIMIT_S = 8.0
TEXT_LIMIT = 300
LEAST_CUT = 100
"""Characters of a completion from which a report may show its beginning alone."""
NATIVE = ("plain", "trl", "trl_chat")
PAID_ABOVE = 0.5
PAYMENTS = frozenset(
    {
        "answer_in_reasoning",
        "common_prefix",
        "constant_output",
        "echo_prompt",
        "empty",
        "format_only",
        "malformed_xml",
        "multiple_tags",
        "random_tokens",
        "regex_greediness",
        "whitespace",
    }
)
"""Attacks whose finding, unless it reports a crash, is about a completion that was rewarded."""
ORDERS = ("multiple_tags", "regex_greediness")
"""These hold two scores, of a right and a wrong answer in either order. One constant of
`constant_output` is rewarded on more than a fifth of the problems; its score is that rate."""


def _judge(source: str, cases: str, completion: str) -> float:
    """What the verifier returns for a file with the completion, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        solution = Path(folder) / "solution.py"
        solution.write_text(completion, newline="", errors="surrogateescape")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            _in_child(source, cases, solution, write)
        os.close(write)
        deadline = time.monotonic() + CODE_LIMIT_S
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.001)
        os.set_blocking(read, False)
        try:
            data = os.read(read, 1000)
        except BlockingIOError:
            data = b""
        os.close(read)
        return float(json.loads(data)) if data else 0.0


def _in_child(source: str, cases: str, solution: Path, write: int) -> None:
    """Run the verifier as its author does, and report one number; never returns."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.chdir(solution.parent)
        sys.path.insert(0, str(solution.parent))
        send, dump = os.write, json.dumps
        scope: dict[str, Any] = {"__name__": "verifier"}
        exec(compile(source, "verifier.py", "exec"), scope)  # trusted: the corpus's own code
        value = scope["verify"](str(solution), cases)
        send(write, dump(float(value["score"] if isinstance(value, dict) else value)).encode())
    except BaseException:
        os._exit(1)
    os._exit(0)


def form_of(entry: PlantedEntry) -> Callable[..., Any]:
    """The reward function that rewardprobe is given."""
    if entry.kind == PlantedKind.CODE:
        source, cases = verifier_of(entry), str(cases_of(entry))

        def code_reward(completion: str, answer: str) -> float:
            return _judge(source, cases, completion)

        return code_reward
    function = function_of(entry)
    if entry.signature in NATIVE:
        return function

    def text_reward(completion: str, answer: str, prompt: str) -> float:
        row = PlantedRow(prompt=prompt, answer=answer)
        return score(function, entry.signature, row=row, text=completion)

    return text_reward


def tasks_of(entry: PlantedEntry) -> list[dict[str, Any]]:
    """Its rows: prompt (messages for a chat) and answer."""
    chat = entry.signature == "trl_chat"
    code = entry.kind == PlantedKind.CODE
    return [
        {
            "prompt": [{"role": "user", "content": row.prompt}] if chat else row.prompt,
            "answer": row.correct[0] if code else row.answer,
        }
        for row in entry.problems
    ]


def probe(entry: PlantedEntry) -> dict[str, Any]:
    """All deterministic families."""
    scored: dict[str, None] = {}
    reward = _recorded(form_of(entry), scored)
    report = Probe().test_fn(reward, tasks_of(entry), name=entry.name)
    listed = [finding for finding in report.findings if finding.severity is not Severity.INFO]
    parts = {
        "critical": [one for one in listed if one.severity is Severity.CRITICAL],
        "listed": listed,
        "rewarded": [one for one in listed if _is_payment(one)],
    }
    readings: dict[str, Any] = {}
    for name, findings in parts.items():
        claims = [text for finding in findings for text in _shown(finding, scored)]
        says = "exploitable" if findings else "robust"
        readings[name] = {"says": says, "claims": list(dict.fromkeys(claims))}
    reasons = [f"{one.attack}: {(one.error or one.input)[:TEXT_LIMIT]}" for one in listed]
    return {"readings": readings, "reasons": reasons}


def _recorded(function: Callable[..., Any], texts: dict[str, None]) -> Callable[..., Any]:
    """The same function, which notes every text that it is given."""

    @functools.wraps(function)
    def reward(*args: Any, **columns: Any) -> Any:
        texts.update(dict.fromkeys(_texts([*args, *columns.values()])))
        return function(*args, **columns)

    return reward


def _texts(value: Any) -> Iterator[str]:
    """The strings in arguments: texts, batches of them, and chats."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(value.get("content"))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _shown(finding: Finding, scored: Iterable[str]) -> list[str]:
    """The completions of a finding: those that were scored and begin as it shows them."""
    told = finding.input
    pair = re.fullmatch("A: (.*) \\| B: (.*)", told, re.DOTALL)
    begun = [*pair.groups()] if pair else ["" if told == "(empty string)" else told]
    found: list[str] = []
    for start in begun:
        exact = [text for text in scored if text == start or repr(text) == start]
        cut = len(start) >= LEAST_CUT
        found += exact or [text for text in scored if cut and text.startswith(start)]
    return found


def _is_payment(finding: Finding) -> bool:
    if finding.error or finding.attack not in PAYMENTS:
        return False
    if finding.attack == "constant_output":
        return True
    scores = [finding.actual_reward]
    if finding.attack in ORDERS:
        scores.append(finding.expected_reward)
    return any(value is not None and value > PAID_ABOVE for value in scores)


def label(entry: PlantedEntry) -> dict[str, Any]:
    """Where the form, seen through rewardprobe's own adapter, scores otherwise than the label."""
    from rewardprobe.adapters.auto import auto_adapt

    tasks = tasks_of(entry)
    call = auto_adapt(form_of(entry), tasks).reward_fns[0].fn
    wrong: list[str] = []
    empty: list[float] = []
    for row, task in zip(entry.problems, tasks, strict=True):
        texts = samples(entry, row)
        theirs = [call(text, task) for text in texts]
        ours = None
        if entry.kind == PlantedKind.TEXT:
            function = function_of(entry)
            floor = floor_of(entry, function, row=row)
            theirs = [share(value, floor) for value in theirs]
            raw = [score(function, entry.signature, row=row, text=text) for text in texts]
            ours = [share(value, floor) for value in raw]
        wrong += compare(entry, row, theirs=theirs, ours=ours)
        empty.append(theirs[len(row.correct)])
    return {"wrong": wrong, "empty": empty}


if __name__ == "__main__":
    answer_request({"probe": probe, "label": label})
