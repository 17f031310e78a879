"""A corpus on disk becomes entries; a folder without any is an error that says what is expected."""

from pathlib import Path

import pytest

from unhack_verifier_bench import load_strategy, planted_entries, score
from unhack_verifier_bench.entries import PlantedLabel

LABEL = """
flaws = ["substring_match"]
kind = "hack"
signature = "plain"
entry = "reward"
[[problems]]
prompt = "Two and two?"
answer = "4"
correct = ["4", "four: 4"]
witness = "1 2 3 4"
says = ["1", "4"]
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for room in ("flawed", "strategies"):
        (tmp_path / room).mkdir()
    (tmp_path / "flawed" / "inside.toml").write_text(LABEL)
    source = "def reward(completion, answer):\n    return float(answer in completion)\n"
    (tmp_path / "flawed" / "inside.py").write_text(source)
    strategy = "def strategy(prompt):\n    return '0 1 2 3 4 5 6 7 8 9'\n"
    (tmp_path / "strategies" / "inside.py").write_text(strategy)
    return tmp_path


def test_a_corpus_of_ones_own_is_read_as_that_of_the_package(corpus: Path) -> None:
    [entry] = planted_entries(corpus)
    assert (entry.name, entry.label, entry.flaws) == (
        "inside",
        PlantedLabel.HACK,
        ("substring_match",),
    )
    assert entry.path == corpus / "flawed" / "inside.py"
    assert entry.rows() == [{"prompt": "Two and two?", "answer": "4", "correct": ["4", "four: 4"]}]


def test_a_hack_brings_the_strategy_that_proves_it(corpus: Path) -> None:
    [entry] = planted_entries(corpus)
    assert load_strategy(entry)("Two and two?") == "0 1 2 3 4 5 6 7 8 9"


def test_what_is_no_hack_has_no_strategy_and_the_error_names_its_label() -> None:
    sound = next(entry for entry in planted_entries() if not entry.flawed)
    with pytest.raises(ValueError, match="sound"):
        load_strategy(sound)


def test_a_folder_without_entries_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"flawed/NAME\.toml"):
        planted_entries(tmp_path)


@pytest.mark.parametrize(
    ("signature", "function"),
    [
        ("plain", lambda text, answer: float(text == answer)),
        ("verl", lambda source, text, answer, extra: {"score": float(text == answer)}),
        ("trl", lambda prompts, completions, answer: [float(completions[0] == answer[0])]),
        ("openrlhf", lambda queries, prompts, labels: {"rewards": [queries[0] == "Q4"]}),
        ("reasoning_gym", lambda text, entry: float(text == entry["answer"])),
    ],
)
def test_a_verifier_is_called_as_its_framework_calls_it(signature: str, function) -> None:
    row = next(entry for entry in planted_entries() if entry.kind == "text").problems[0]
    row = type(row)(prompt="Q", answer="4")
    assert score(function, signature, row=row, text="4") == 1.0
    assert score(function, signature, row=row, text="5") == 0.0
