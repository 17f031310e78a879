"""A user's own oracle: what it is given, and its solver."""

from pathlib import Path

import pytest

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.own_oracle import OwnOracle, with_solver
from unhack.audit.subject import AuditProblem
from unhack.core.errors import UsageError

ROW = AuditProblem("r#0", "Visit every town.", extra={"towns": ["Ulm", "Bonn"]})
SOLVED = AuditProblem("r#1", "Visit every town.", correct=("Ulm",), extra={"towns": ["Ulm"]})


def oracle(folder: Path, source: str) -> Path:
    path = folder / "oracle.py"
    path.write_text(source)
    return path


@pytest.mark.parametrize(("text", "wrong"), [("Ulm, Bonn", False), ("Ulm", True)])
def test_a_constraint_is_judged_by_the_whole_row(tmp_path: Path, text: str, wrong: bool) -> None:
    path = oracle(
        tmp_path,
        "def is_wrong(prompt, completion, answer, row):\n"
        "    return sorted(completion.split(', ')) != sorted(row['towns'])\n",
    )
    evidence = OwnOracle(path).why_wrong(ROW, Payload(text, Claim.OTHER_ANSWER))
    assert (evidence is not None) is wrong


@pytest.mark.parametrize(
    "source",
    [
        "def is_wrong(prompt, completion, answer):\n    return answer is None\n",
        "def is_wrong(prompt, completion, answer, **more):\n    return answer is None\n",
        "def is_wrong(*given):\n    return given[3]['towns'] == ['Ulm', 'Bonn']\n",
    ],
    ids=["three", "keywords", "all"],
)
def test_an_oracle_is_given_as_much_as_it_takes(tmp_path: Path, source: str) -> None:
    path = oracle(tmp_path, source)
    assert OwnOracle(path).why_wrong(ROW, Payload("x", Claim.NO_ANSWER)) is not None


def test_a_solver_completes_the_rows_that_have_nothing(tmp_path: Path) -> None:
    path = oracle(tmp_path, "def right(row):\n    return ', '.join(row['towns'])\n")
    found = with_solver([ROW, SOLVED], path)
    assert [one.correct for one in found] == [("Ulm, Bonn",), ("Ulm",)]


def test_a_solver_is_given_the_entry_point_of_a_row(tmp_path: Path) -> None:
    path = oracle(tmp_path, "def right(row):\n    return f'def {row[\"entry_point\"]}(): ...'\n")
    found = with_solver([AuditProblem("r", "Write f.", entry_point="f")], path)
    assert found[0].correct == ("def f(): ...",)


def test_an_oracle_without_a_solver_changes_no_row(tmp_path: Path) -> None:
    path = oracle(tmp_path, "def is_wrong(prompt, completion, answer):\n    return None\n")
    assert with_solver([ROW], path) == (ROW,)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def right(row):\n    return row['cities']\n", "KeyError"),
        ("def right(row):\n    return 7\n", "gave no text for problem r#0: 7"),
        ("def right(row)\n", "it is no Python"),
    ],
)
def test_a_solver_that_gives_no_text_is_named(tmp_path: Path, source: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        with_solver([ROW], oracle(tmp_path, source))
