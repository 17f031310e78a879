"""DeepGym 0.6.2's audit and its QA gate on one entry of the planted corpus.

    python audit_deepgym.py NAME audit|qa|label

An environment folder is made for every problem: `task.md`, `verifier.py`, the reference solution
(the first right completion) and support files. Flawed scripts are taken as they are written; sound
ones reach the solution through `load_solution`, DeepGym's isolation. A text reward becomes a
verifier that calls the same function on the submitted text and divides by the lowest score of the
right completions, within [0, 1]. (DeepGym's attacks are programs; scoring what they print instead
lets fewer of them succeed on this corpus.)

    audit   `RewardAuditor.audit` with every strategy that needs no key, as `deepgym audit
            --strategies` runs it; `exploitable`, `robust` or `inconclusive`, as it says itself
    qa      `run_qa` with mutants, as `deepgym qa --mutants` runs it; `fail` counts as exploitable,
            `pass` as robust, the rest as inconclusive
    label   whether the form keeps the label

A text entry is exploitable when one of its problems is, and robust when all are.
"""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deepgym import DeepGym
from deepgym.adversarial import DEFAULT_STRATEGIES, AdversarialTester
from deepgym.models import Environment
from deepgym.qa import QAOptions, run_qa
from deepgym.registry import load_environment_dir
from deepgym.reward_qa import RewardAuditor

from audit_forms import (
    LOADING,
    QUALITY,
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

STRATEGIES = [name for name in DEFAULT_STRATEGIES if name != "llm_attack"]
TIMEOUT_S = 10
"""Seconds for one run of a verifier; DeepGym's default is 30."""
TEXT_LIMIT = 300

TEXT_VERIFIER = '''"""Score the submitted text."""

import math

from planted import Row, score
from reward import {entry} as reward

ROW = Row(prompt={prompt!r}, answer={answer!r})
FLOOR = {floor!r}


def verify(solution_path, test_cases_path=None):
    """The score as a share of the lowest right one."""
    with open(solution_path, newline="") as file:
        text = file.read()
    value = score(reward, {signature!r}, row=ROW, text=text)
    part = value if math.isnan(value) else min(1.0, max(0.0, value / FLOOR))
    return {{"score": part, "passed": part >= 1.0}}
'''
CODE_END = '''

import os

_verify = verify
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), {cases!r})


def verify(solution_path, test_cases_path=None):
    """The verifier above with the cases beside it, its result in DeepGym's terms."""
{before}    value = _verify(solution_path, CASES)
    part = float(value["score"] if isinstance(value, dict) else value)
    return {{"score": part, "passed": part >= 1.0}}
'''


def _code_files(entry: Entry) -> dict[str, str]:
    source = verifier_of(entry)
    before = ""
    if not entry.flawed:
        isolated = source.replace(LOADING, "    module = load_solution(solution_path)\n")
        if "\nimport solution\n" in source:
            isolated = source.replace("\nimport solution\n", "\n")
            before = "    global solution\n    solution = load_solution(solution_path)\n"
        if isolated == source:
            raise SystemExit(f"{entry.name}: no known way to load the solution")
        source = isolated + "\nfrom deepgym_solution import load_solution\n"
    cases = cases_of(entry)
    verifier = source + CODE_END.format(cases=cases.name, before=before)
    return {"verifier.py": verifier, cases.name: cases.read_text()}


def _text_files(entry: Entry, row: Row) -> dict[str, str]:
    verifier = TEXT_VERIFIER.format(
        entry=entry.entry,
        prompt=row.prompt,
        answer=row.answer,
        signature=entry.signature,
        floor=floor_of(entry, function_of(entry), row=row),
    )
    planted = (QUALITY / "planted.py").read_text()
    return {"verifier.py": verifier, "reward.py": entry.path.read_text(), "planted.py": planted}


@contextmanager
def environments(entry: Entry) -> Iterator[list[tuple[Row, Path, Environment]]]:
    """(problem, its folder, what DeepGym loads from there) for every problem."""
    with tempfile.TemporaryDirectory() as home:
        found: list[tuple[Row, Path, Environment]] = []
        for number, row in enumerate(entry.problems):
            folder = Path(home) / f"{entry.name}_{number}"
            folder.mkdir()
            files = _text_files(entry, row) if entry.kind is Kind.TEXT else _code_files(entry)
            metadata = {
                "name": folder.name,
                "timeout": TIMEOUT_S,
                "support_files": [name for name in files if name != "verifier.py"],
            }
            files |= {
                "task.md": row.prompt,
                "reference_solution.py": row.correct[0],
                "metadata.json": json.dumps(metadata),
            }
            for name, text in files.items():
                (folder / name).write_text(text, newline="")
            environment = load_environment_dir(folder)
            if not isinstance(environment, Environment):
                raise SystemExit(f"{folder.name} is no single-turn environment")
            found.append((row, folder, environment))
        yield found


def _overall(statuses: list[str]) -> str:
    if "exploitable" in statuses:
        return "exploitable"
    return "robust" if set(statuses) == {"robust"} else "inconclusive"


def _with_cases(entry: Entry, environment: Environment) -> Environment:
    """The cases told to DeepGym, whose attacks print their inputs and outputs."""
    if entry.kind is Kind.TEXT:
        return environment
    text = cases_of(entry).read_text()
    whole = cases_of(entry).suffix == ".json"
    cases = json.loads(text) if whole else [json.loads(line) for line in text.splitlines()]
    return environment.model_copy(update={"test_cases": cases})


def audit(entry: Entry) -> dict[str, Any]:
    """The heuristic attacks."""
    client = DeepGym(mode="local")
    statuses: list[str] = []
    witnesses: list[dict[str, Any]] = []
    reasons: list[str] = []
    with environments(entry) as found:
        for number, (_, _, plain) in enumerate(found):
            environment = _with_cases(entry, plain)
            report = RewardAuditor(client).audit(environment, strategies=STRATEGIES)
            statuses.append(report.status)
            tester = AdversarialTester(client)
            for result in report.report.results:
                text = tester._generate_attack(environment, result.strategy)
                if result.exploited:
                    witness = {"problem": number, "attack": result.strategy}
                    witnesses.append(witness | {"score": result.score, "input": text[-TEXT_LIMIT:]})
                elif result.inconclusive:
                    reasons.append(f"{result.strategy}: {result.details[-TEXT_LIMIT:]}")
    return {"status": _overall(statuses), "witnesses": witnesses, "reasons": reasons}


def qa(entry: Entry) -> dict[str, Any]:
    """The QA gate with mutants of the reference."""
    names = {"fail": "exploitable", "pass": "robust"}
    client = DeepGym(mode="local")
    statuses: list[str] = []
    witnesses: list[dict[str, Any]] = []
    reasons: list[str] = []
    with environments(entry) as found:
        for number, (_, folder, _) in enumerate(found):
            report = run_qa(folder, client, QAOptions(mutants=True))
            statuses.append(names.get(report.status, "inconclusive"))
            for check in report.checks:
                text = check.details[:TEXT_LIMIT]
                if check.status == "fail":
                    witnesses.append({"problem": number, "attack": check.name, "input": text})
                elif check.status == "inconclusive":
                    reasons.append(f"{check.name}: {text}")
    return {"status": _overall(statuses), "witnesses": witnesses, "reasons": reasons}


def label(entry: Entry) -> dict[str, Any]:
    """Where the form scores otherwise than the label says, or than the function itself."""
    client = DeepGym(mode="local")
    wrong: list[str] = []
    empty: list[float] = []
    with environments(entry) as found:
        for row, _, environment in found:
            texts = samples(entry, row)
            results = client.run_batch(environment, texts, max_parallel=2).results
            theirs = [result.score if result.has_verdict else 0.0 for result in results]
            ours = None
            if entry.kind is Kind.TEXT:
                function = function_of(entry)
                floor = floor_of(entry, function, row=row)
                raw = [score(function, entry.signature, row=row, text=text) for text in texts]
                ours = [0.0 if math.isnan(value) else share(value, floor) for value in raw]
            wrong += compare(entry, row, theirs=theirs, ours=ours)
            empty.append(theirs[len(row.correct)])
    return {"wrong": wrong, "empty": empty}


if __name__ == "__main__":
    os.environ.pop("DEEPGYM_ALLOW_UNSANDBOXED", None)
    logging.disable(logging.WARNING)
    answer_request({"audit": audit, "qa": qa, "label": label})
