"""rewardprobe 0.1.0's deterministic probes on one entry of the planted corpus.

    python audit_rewardprobe.py NAME probe|label

`Probe().test_fn` gets all problems of the entry. Plain and TRL functions are handed over as they
are. verl, OpenRLHF and reasoning-gym signatures are not told apart by its adapter, which would put
the completion into `data_source` or pass a string for a batch, so these get the form
`(completion, answer, prompt)` that it knows. A code entry is such a function too: it writes the
completion to a file and runs the verifier in a forked process; the answer is the reference.

`critical`: a finding that fails `rewardprobe test --ci`. `listed`: a finding that its report lists,
critical or a warning. `paid`: such a finding which says that a completion that is not right scores
above one half (as against crashes, missing columns, rejected variants and other remarks).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rewardprobe import Probe
from rewardprobe.types import Finding, Severity

from audit_forms import (
    Entry,
    Kind,
    Row,
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
"""Attacks whose finding, unless it reports a crash, is about a completion that was paid."""
ORDERS = ("multiple_tags", "regex_greediness")
"""These hold two scores, of a right and a wrong answer in either order. One constant of
`constant_output` is paid on more than a fifth of the problems; its score is that rate."""


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


def form_of(entry: Entry) -> Callable[..., Any]:
    """The reward function that rewardprobe is given."""
    if entry.kind is Kind.CODE:
        source, cases = verifier_of(entry), str(cases_of(entry))

        def code_reward(completion: str, answer: str) -> float:
            return _judge(source, cases, completion)

        return code_reward
    function = function_of(entry)
    if entry.signature in NATIVE:
        return function

    def text_reward(completion: str, answer: str, prompt: str) -> float:
        row = Row(prompt=prompt, answer=answer)
        return score(function, entry.signature, row=row, text=completion)

    return text_reward


def tasks_of(entry: Entry) -> list[dict[str, Any]]:
    """Its rows: prompt (messages for a chat) and answer."""
    chat = entry.signature == "trl_chat"
    code = entry.kind is Kind.CODE
    return [
        {
            "prompt": [{"role": "user", "content": row.prompt}] if chat else row.prompt,
            "answer": row.correct[0] if code else row.answer,
        }
        for row in entry.problems
    ]


def probe(entry: Entry) -> dict[str, Any]:
    """All deterministic families."""
    report = Probe().test_fn(form_of(entry), tasks_of(entry), name=entry.name)
    shown = [
        {
            "attack": finding.attack,
            "severity": finding.severity.value,
            "input": (finding.error or finding.input)[:TEXT_LIMIT],
            "score": finding.actual_reward,
            "paid": _is_payment(finding),
        }
        for finding in report.findings
        if finding.severity is not Severity.INFO
    ]
    names = {True: "exploitable", False: "robust"}
    return {
        "critical": names[report.critical_count > 0],
        "listed": names[bool(shown)],
        "paid": names[any(item["paid"] for item in shown)],
        "witnesses": sorted(shown, key=lambda item: not item["paid"]),
        "reasons": [],
    }


def _is_payment(finding: Finding) -> bool:
    if finding.error or finding.attack not in PAYMENTS:
        return False
    if finding.attack == "constant_output":
        return True
    scores = [finding.actual_reward]
    if finding.attack in ORDERS:
        scores.append(finding.expected_reward)
    return any(value is not None and value > PAID_ABOVE for value in scores)


def label(entry: Entry) -> dict[str, Any]:
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
        if entry.kind is Kind.TEXT:
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
