"""Derivations checked line by line: right ones in many spellings, wrong ones, ways around.

    python benchmarks/derivations_checked.py
    python benchmarks/derivations_checked.py --file traces.toml

Three collections. `derivations.toml`, set 1, was written before the checker, of other kinds than
the suite makes; set 2 after its first scoring, by somebody who knew the checker and tried to get
around it. `FIRST` holds the first scoring of each, before any change that followed. The suite's own
derivations are drawn from a seed of their own, each written in a random spelling, which must pass,
and with one fault, which must be found at its line. `--file` scores further files of the form of
`derivations.toml`, and nothing else: right ones that are paid in full, wrong ones that are paid at
all, and first wrong lines found exactly, of those that have one. Two stand here, of styles that
models write: `derivations_styles.toml`, by which the checker was improved, and
`derivations_unseen.toml`, whose texts nobody who changed it has read (71 of 100 right, 1 of 100
wrong, 49 of 97 lines; before, 54, 2 and 41).
"""

from __future__ import annotations

import argparse
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measure import save
from unhack_suites.derivations.checker import check_derivation
from unhack_suites.derivations.suite import DerivationProblem, make_problems

WRITTEN = Path(__file__).with_name("derivations.toml")
FIRST = {
    "set_1": {"right": "38 of 38", "wrong": "34 of 36", "at_the_line": "34 of 36"},
    "set_2": {"right": "16 of 20", "wrong": "8 of 16", "at_the_line": "8 of 16"},
    "drawn": {"respelled": "581 of 600", "faults": "2400 of 2400"},
}
"""The first scorings, before the checker was changed by what they showed."""
SEED = "derivations checked"
_TIMES = (" × ", "·", r" \cdot ", r" \times ", " x ", " times ", "*", " ∗ ")
_OVER = (" ÷ ", " / ", ":", "/")
_TAILS = ("", "", ".", " in all", " of them", " so far.", " ✓", "  (first part)")
_HEADS = ("", "", "- ", "1) ", "So ", "Then we get ", "**", "=> ", "Next: ", "• ")
_RESULT = re.compile(r"-?\d+(?:\.\d+)?$")


def respelled(line: str, rng: random.Random) -> str:
    """The line in another spelling with the same meaning."""
    text = line
    if " or " not in text and not re.search(r"[a-z^]", text):
        left, right = text.split(" = ")
        text = rng.choice((f"{left} = {right}", f"{left} = {right}", f"{right} = {left}"))
    worded = not re.search(r"[a-z(]", text)
    times = rng.choice(_TIMES)
    if times.strip() in ("x", "times") and not worded:
        times = "·"
    text = text.replace(" * ", times)
    over = rng.choice(_OVER)
    text = re.sub(r"(?<=\d)\s?/\s?(?=\d)", over if worded else "/", text)
    if rng.random() < 0.3:
        text = re.sub(r"(\d+)/(\d+)", r"\\frac{\1}{\2}", text)
    if rng.random() < 0.5:
        text = text.replace("-", "−")
    text = re.sub(r"\^2\b", "²", text) if rng.random() < 0.5 else text
    head = rng.choice(_HEADS)
    if head == "**":
        return f"**{text}**"
    if rng.random() < 0.2 and not re.search("[×·÷−²]", text):
        return f"{head}${text}$"
    return f"{head}{text}{rng.choice(_TAILS) if worded else ''}"


def wrong_result(lines: Sequence[str], at: int, rng: random.Random) -> list[str]:
    """One result is off; the lines after it go on as if it were right."""
    shift = rng.choice([n for n in range(-9, 10) if n])
    changed = _RESULT.sub(lambda found: _shifted(found[0], shift), lines[at])
    return [*lines[:at], changed, *lines[at + 1 :]]


def wrong_operand(lines: Sequence[str], at: int, rng: random.Random) -> list[str]:
    """One number before the sign of equality is off."""
    left, _, right = lines[at].partition(" = ")
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", left))
    chosen = rng.choice(numbers)
    other = _shifted(chosen[0], rng.choice([1, 2, 3, -1]))
    changed = f"{left[: chosen.start()]}{other}{left[chosen.end() :]} = {right}"
    return [*lines[:at], changed, *lines[at + 1 :]]


def carried_on(lines: Sequence[str], at: int, rng: random.Random) -> list[str]:
    """One result is off, and the lines after it calculate with it as it stands."""
    made = wrong_result(lines, at, rng)
    old, new = _RESULT.search(lines[at]), _RESULT.search(made[at])
    assert old is not None
    assert new is not None
    return [*made[: at + 1], *(line.replace(old[0], new[0]) for line in made[at + 1 :])]


def _shifted(number: str, shift: int) -> str:
    places = len(number.partition(".")[2])
    return f"{float(number) + shift * 10.0**-places:.{places}f}"


FAULTS: dict[str, Callable[[Sequence[str], int, random.Random], list[str]]] = {
    "wrong result": wrong_result,
    "wrong operand": wrong_operand,
    "wrong result carried on": carried_on,
}


def score_written(rows: Sequence[dict[str, Any]], *, right: bool) -> dict[str, Any]:
    """How many of a written set are judged as they are labelled."""
    good, at_the_line, missed = 0, 0, list[str]()
    for row in rows:
        report = check_derivation(row["statement"], row["text"], answer=row["answer"])
        first = report.first_wrong.number if report.first_wrong else 0
        as_labelled = (first == 0 and report.score == 1.0) if right else report.score < 1.0
        good += as_labelled
        at_the_line += as_labelled and first == row.get("first_wrong", 0)
        if not as_labelled:
            missed.append(row["name"])
    found = {"count": len(rows), "as_labelled": good, "missed": missed}
    return found if right else {**found, "at_the_line": at_the_line}


def score_file(path: Path) -> dict[str, Any]:
    """The three figures of a file; `paid` counts any amount."""
    with path.open("rb") as file:
        written = tomllib.load(file)
    reports = {
        label: [
            (row, check_derivation(row["statement"], row["text"], answer=row["answer"]))
            for row in written.get(label, [])
        ]
        for label in ("right", "wrong")
    }
    located = [(row["first_wrong"], one) for row, one in reports["wrong"] if row["first_wrong"]]
    found = sum(one.first_wrong is not None and one.first_wrong.number == n for n, one in located)
    accepted = [one.first_wrong is None and one.payable == 1.0 for _, one in reports["right"]]
    paid = [one.payable for _, one in reports["wrong"]]
    return {
        "right_accepted": f"{sum(accepted)} of {len(accepted)}",
        "wrong_paid": f"{sum(map(bool, paid))} of {len(paid)} ({paid.count(1.0)} in full)",
        "first_wrong_line": f"{found} of {len(located)}",
    }


def score_drawn(problems: Sequence[DerivationProblem], rng: random.Random) -> dict[str, Any]:
    """Respelled derivations that pass, and faults that are found."""
    passed, refused = 0, Counter[str]()
    tried, found, located = Counter[str](), Counter[str](), Counter[str]()
    for problem in problems:
        report = problem.check("\n".join(respelled(line, rng) for line in problem.reference))
        good = report.first_wrong is None and report.score == 1.0
        passed += good
        refused.update([] if good else [problem.kind])
        plain = [
            at
            for at, line in enumerate(problem.reference)
            if " or " not in line and re.search(r"\d.* = ", line)
        ]
        for name, fault in FAULTS.items():
            at = rng.choice(plain)
            lines = fault(problem.reference, at, rng)
            bad = problem.check("\n".join(lines))
            tried[name] += 1
            found[name] += bad.score < 1.0
            located[name] += bad.first_wrong is not None and bad.first_wrong.number == at + 1
        jump = problem.check(f"The answer is {problem.answer}.")
        tried["jump"] += 1
        found["jump"] += jump.score == 0.0
        located["jump"] += jump.first_wrong is not None
    return {
        "problems": len(problems),
        "kinds": len({one.kind for one in problems}),
        "respelled_passed": passed,
        "respelled_refused": dict(refused),
        "faults": {
            name: {"tried": tried[name], "found": found[name], "at_the_line": located[name]}
            for name in tried
        },
    }


def main() -> None:
    """Score all collections and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=1200)
    parser.add_argument("--file", type=Path, action="append", default=[], metavar="PATH")
    options = parser.parse_args()
    if options.file:
        for path in options.file:
            print(path.name, score_file(path))
        return
    with WRITTEN.open("rb") as file:
        written = tomllib.load(file)
    figures: dict[str, Any] = {"first_scoring": FIRST}
    for number in (1, 2):
        for label in ("right", "wrong"):
            rows = [row for row in written[label] if row.get("set", 1) == number]
            figures[f"set_{number}_{label}"] = score_written(rows, right=label == "right")
    problems = make_problems(SEED, count=options.problems)
    figures["drawn"] = score_drawn(problems, random.Random(SEED))
    for name, value in figures.items():
        print(name, value)
    save("derivations_checked", "python benchmarks/derivations_checked.py", figures)


if __name__ == "__main__":
    main()
