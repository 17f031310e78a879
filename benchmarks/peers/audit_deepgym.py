"""DeepGym 0.6.2's audit and its QA gate on one entry of the planted corpus.

    python audit_deepgym.py NAME audit|qa|label [--corpus FOLDER]

An environment folder is made for every problem: `task.md`, `verifier.py`, the reference solution
(the first right completion) and support files. Flawed scripts are taken as they are written; sound
ones reach the solution through `load_solution`, DeepGym's isolation. A text reward becomes a
verifier that calls the same function on the submitted text and divides by the lowest score of the
right completions, within [0, 1]. (DeepGym's attacks are programs; scoring what they print instead
lets fewer of them succeed on this corpus.)

    audit   `RewardAuditor.audit` with every strategy that needs no key, as `deepgym audit
            --strategies` runs it; `exploitable`, `robust` or `inconclusive`, as it says itself.
            Its claims are the programs of the attacks that it counts as exploits
    qa      `run_qa` with mutants, as `deepgym qa --mutants` runs it; `fail` counts as exploitable,
            `pass` as robust, the rest as inconclusive. The claims of a failed gate are all that it
            ran, attacks, stub and mutants, and that got at least 0.5
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
from deepgym.adversarial import DEFAULT_STRATEGIES, PASS_THRESHOLD, AdversarialTester
from deepgym.models import Environment
from deepgym.qa import QAOptions, run_qa
from deepgym.registry import load_environment_dir
from deepgym.reward_qa import RewardAuditor

from audit_forms import (
    LOADING,
    PLANTED,
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

STRATEGIES = [name for name in DEFAULT_STRATEGIES if name != "llm_attack"]
TIMEOUT_S = 10
"""Seconds for one run of a verifier; DeepGym's default is 30."""
TEXT_LIMIT = 300

TEXT_VERIFIER = '''"""Score the submitted text."""

import math

from entries import PlantedRow, score
from reward import {entry} as reward

ROW = PlantedRow(prompt={prompt!r}, answer={answer!r})
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


def _code_files(entry: PlantedEntry) -> dict[str, str]:
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


def _text_files(entry: PlantedEntry, row: PlantedRow) -> dict[str, str]:
    verifier = TEXT_VERIFIER.format(
        entry=entry.entry,
        prompt=row.prompt,
        answer=row.answer,
        signature=entry.signature,
        floor=floor_of(entry, function_of(entry), row=row),
    )
    entries = (PLANTED / "entries.py").read_text()
    return {"verifier.py": verifier, "reward.py": entry.path.read_text(), "entries.py": entries}


@contextmanager
def environments(entry: PlantedEntry) -> Iterator[list[tuple[PlantedRow, Path, Environment]]]:
    """(problem, its folder, what DeepGym loads from there) for every problem."""
    with tempfile.TemporaryDirectory() as home:
        found: list[tuple[PlantedRow, Path, Environment]] = []
        for number, row in enumerate(entry.problems):
            folder = Path(home) / f"{entry.name}_{number}"
            folder.mkdir()
            files = (
                _text_files(entry, row) if entry.kind == PlantedKind.TEXT else _code_files(entry)
            )
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


def _with_cases(entry: PlantedEntry, environment: Environment) -> Environment:
    """The cases told to DeepGym, whose attacks print their inputs and outputs."""
    if entry.kind == PlantedKind.TEXT:
        return environment
    text = cases_of(entry).read_text()
    whole = cases_of(entry).suffix == ".json"
    cases = json.loads(text) if whole else [json.loads(line) for line in text.splitlines()]
    return environment.model_copy(update={"test_cases": cases})


def _reading(statuses: list[str], claims: list[str], reasons: list[str]) -> dict[str, Any]:
    says = _overall(statuses)
    reading = {
        "says": "none" if says == "inconclusive" else says,
        "claims": list(dict.fromkeys(claims)),
    }
    return {"readings": {"all": reading}, "reasons": reasons}


def audit(entry: PlantedEntry) -> dict[str, Any]:
    """The heuristic attacks."""
    client = DeepGym(mode="local")
    statuses: list[str] = []
    claims: list[str] = []
    reasons: list[str] = []
    with environments(entry) as found:
        for _, _, plain in found:
            environment = _with_cases(entry, plain)
            report = RewardAuditor(client).audit(environment, strategies=STRATEGIES)
            statuses.append(report.status)
            tester = AdversarialTester(client)
            for result in report.report.results:
                if result.exploited:
                    claims.append(tester._generate_attack(environment, result.strategy))
                elif result.inconclusive:
                    reasons.append(f"{result.strategy}: {result.details[-TEXT_LIMIT:]}")
    return _reading(statuses, claims, reasons)


@contextmanager
def _recorded() -> Iterator[list[tuple[str, Any]]]:
    """(completion, its result) of whatever a client of DeepGym runs meanwhile."""
    found: list[tuple[str, Any]] = []
    one, many = DeepGym.run, DeepGym.run_batch

    def run(self: Any, env: Any, text: str, *rest: Any, **options: Any) -> Any:
        result = one(self, env, text, *rest, **options)
        found.append((text, result))
        return result

    def run_batch(self: Any, env: Any, texts: Any, *rest: Any, **options: Any) -> Any:
        batch = many(self, env, texts, *rest, **options)
        found.extend(zip(texts, batch.results, strict=True))
        return batch

    DeepGym.run, DeepGym.run_batch = run, run_batch
    try:
        yield found
    finally:
        DeepGym.run, DeepGym.run_batch = one, many


def qa(entry: PlantedEntry) -> dict[str, Any]:
    """The QA gate with mutants of the reference."""
    names = {"fail": "exploitable", "pass": "robust"}
    client = DeepGym(mode="local")
    statuses: list[str] = []
    claims: list[str] = []
    reasons: list[str] = []
    with environments(entry) as found:
        for row, folder, _ in found:
            with _recorded() as ran:
                report = run_qa(folder, client, QAOptions(mutants=True))
            statuses.append(names.get(report.status, "inconclusive"))
            if report.status == "fail":
                rewarded = (
                    text for text, one in ran if one.has_verdict and one.score >= PASS_THRESHOLD
                )
                claims += [text for text in rewarded if text != row.correct[0]]
            reasons += [
                f"{check.name}: {check.details[:TEXT_LIMIT]}"
                for check in report.checks
                if check.status in ("fail", "inconclusive")
            ]
    return _reading(statuses, claims, reasons)


def label(entry: PlantedEntry) -> dict[str, Any]:
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
            if entry.kind == PlantedKind.TEXT:
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
