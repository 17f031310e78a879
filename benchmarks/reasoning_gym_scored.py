"""Twenty reasoning-gym data sets, scored sealed and by the library itself.

python benchmarks/reasoning_gym_scored.py

Each task is scored on its own reference answer, which must get 1.0, and on wrong answers, which
must get exactly what the library's `score_answer` gives them in this process; where `score_answer`
raises, 0.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from measure import save, spread
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders import reasoning_gym as loader
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import Marker, write_answer

NAMES = (
    "base_conversion", "basic_arithmetic", "bitwise_arithmetic", "caesar_cipher", "chain_sum",
    "countdown", "course_schedule", "family_relationships", "gcd", "knights_knaves",
    "letter_counting", "maze", "n_queens", "number_sorting", "polynomial_multiplication",
    "prime_factorization", "shortest_path", "simple_integration", "spiral_matrix", "word_sorting",
)  # fmt: skip
SEED = 11


@dataclass(frozen=True)
class Trial:
    """One answer to one task, and what the library says of it."""

    task: Task
    answer: str
    expected: float | None
    """None where `score_answer` raises."""
    is_reference: bool = False


def library_score(dataset: Any, answer: str, *, entry: Any) -> float | None:
    """What `score_answer` gives; None when it raises."""
    try:
        return float(dataset.score_answer(answer, entry))
    except Exception:
        return None


def trials_of(name: str, size: int) -> Iterator[Trial]:
    """Reference and wrong answers of `size` tasks."""
    import reasoning_gym

    dataset = reasoning_gym.create_dataset(name, size=size, seed=SEED)
    tasks = loader.load(name, size=size, seed=SEED)
    for index, task in enumerate(tasks):
        entry, other = dataset[index], dataset[(index + 1) % size]
        right = str(entry["answer"])
        yield Trial(task, right, library_score(dataset, right, entry=entry), is_reference=True)
        wrong = (other["answer"], right + " 7", right[:-1], right[::-1], "definitely wrong", "0")
        for answer in dict.fromkeys(map(str, wrong)):
            if answer.strip() and answer.strip() == answer and answer != right:
                yield Trial(task, answer, library_score(dataset, answer, entry=entry))


def main() -> int:
    """Score everything and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=10, help="tasks of each data set")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    seconds = 0.0
    cpu_ms: list[float] = []
    for name in NAMES:
        trials = list(trials_of(name, options.size))
        completions = [write_answer(trial.answer, Marker.TAG) for trial in trials]
        started = time.perf_counter()
        batch = run_batch([trial.task for trial in trials], completions)
        seconds += time.perf_counter() - started
        cpu_ms += [verdict.usage.cpu_s * 1000 for verdict in batch.verdicts if verdict.usage.cpu_s]
        rows.append(row_of(name, trials, rewards=list(batch.rewards)))
        print("{name:28} {answers:4} answers  references at 1.0: {references_at_1}/{references}"
              "  wrong ones differing: {differences}".format(**rows[-1]))  # fmt: skip
    bad = sum(len(row["differences"]) for row in rows)
    references = sum(row["references"] for row in rows)
    at_1 = sum(row["references_at_1"] for row in rows)
    answers = sum(row["answers"] for row in rows)
    figures = {
        "data_sets": len(rows),
        "answers": answers,
        "references": references,
        "references_at_1": at_1,
        "wrong_answers_with_partial_score": sum(row["partial"] for row in rows),
        "answers_on_which_score_answer_raises": sum(row["raised"] for row in rows),
        "differences": bad,
        "seconds": round(seconds, 2),
        "cpu_ms_of_an_answer": spread(cpu_ms),
        "seed": SEED,
        "rows": rows,
    }
    save("reasoning_gym", "python benchmarks/reasoning_gym_scored.py", figures)
    print(f"{len(rows)} data sets, {answers} answers in {seconds:.1f} s; {bad} differences")
    return 0 if not bad and at_1 == references else 1


def row_of(name: str, trials: list[Trial], *, rewards: list[float | None]) -> dict[str, Any]:
    """The counts of one data set."""
    pairs = list(zip(trials, rewards, strict=True))
    return {
        "name": name,
        "answers": len(trials),
        "references": sum(trial.is_reference for trial in trials),
        "references_at_1": sum(trial.is_reference and reward == 1.0 for trial, reward in pairs),
        "partial": sum(0.0 < (trial.expected or 0.0) < 1.0 for trial in trials),
        "raised": sum(trial.expected is None for trial in trials),
        "differences": [
            {"answer": trial.answer, "library": trial.expected, "unhack": reward}
            for trial, reward in pairs
            if reward != (trial.expected or 0.0)
        ],
    }


if __name__ == "__main__":
    raise SystemExit(main())
