"""Files and results of a repository are told by their paths and ids."""

from random import Random

from unhack.verifiers.repository import ids
from unhack.verifiers.repository.twins import object_twins

BASE: dict[str, bytes] = dict.fromkeys(
    ("src/pkg/__init__.py", "src/pkg/tests/__init__.py", "tests/__init__.py", "tests/data.txt",
     "setup.py", "single.py"),
    b"x",
)  # fmt: skip
TESTS = {"tests/test_a.py": "import pkg", "src/pkg/tests/test_b.py": ""}


def test_packages_are_imported_from_src_where_it_has_modules():
    assert ids.roots_of(BASE) == ("src", "")
    assert ids.roots_of({"pkg/__init__.py": b"", "src/notes.txt": b""}) == ("",)


def test_the_names_of_a_solution_are_its_packages_and_no_tests():
    tops = ids.candidate_tops(BASE, TESTS, ("src/pkg/", "new.py"), roots=("src", ""))
    assert tops == ("new", "pkg", "single")


def test_a_name_of_the_standard_library_is_no_name_of_a_solution():
    base = {**BASE, "src/types.py": b"", "json/__init__.py": b""}
    assert ids.candidate_tops(base, TESTS, ("src/pkg/",), roots=("src", "")) == ("pkg", "single")


def test_beside_the_tests_lies_nothing_that_a_solution_can_change():
    kept = ids.support_files(BASE, TESTS, ("tests/",), tops=("pkg",), roots=("src", ""))
    assert "tests/data.txt" not in kept
    assert kept["tests/test_a.py"] == b"import pkg"
    assert kept["src/pkg/tests/__init__.py"] == b""  # a place in the package, and no code
    assert "src/pkg/core.py" not in kept


def test_the_function_of_an_id_stands_before_its_row():
    assert ids.function_of("t.py::A::test_x[a::b[0]-1]") == ("t.py", "test_x")
    assert ids.function_of("t.py::test_x") == ("t.py", "test_x")


def test_a_result_that_comes_twice_is_no_pass():
    found = ids.Results([["t.py::test_x", True, ""], ["t.py::test_x", True, ""]])
    assert not found.of("t.py::test_x")[0]


def test_an_absent_result_is_no_pass_and_names_its_file():
    found = ids.Results([["t.py", False, "not collected: boom"], [1], ["x", 2]])
    assert found.of("t.py::test_x") == (False, "not collected: boom")


def test_only_true_is_a_pass():
    assert not ids.Results([["t.py::test_x", 1, ""]]).of("t.py::test_x")[0]


def test_a_twin_counts_beside_an_original_that_passed():
    suite = object_twins(
        {"t.py": "def test_x():\n    assert f() == Thing(2)\n"},
        [("t.py", "test_x")],
        random=Random(0),
    )
    [(_, original)] = suite.originals
    lines = [[f"t.py::{name}", True, ""] for _, name in suite.twins]
    wrong = ids.Results([[f"t.py::{original}", False, ""], *lines[:2]], suite)
    forged = ids.Results([[f"t.py::{original}", True, ""], *lines], suite)
    assert not wrong.accepted_twins()
    assert forged.accepted_twins() == {("", 0, ("t.py", "test_x", 0))}


def test_a_wrong_value_that_is_just_that_of_a_twin_is_no_forgery():
    tests = "".join(f"def test_{n}():\n    assert f({n}) == Thing({n})\n" for n in range(20))
    wanted = [("t.py", f"test_{n}") for n in range(20)]
    suite = object_twins({"t.py": tests}, wanted, random=Random(0))
    originals = [[f"t.py::{name}", False, ""] for _, name in suite.originals]
    twins = [[f"t.py::{name}", True, ""] for _, name in suite.twins]
    failed = [[name, False, ""] for name, _, _ in twins[5:]]
    few = ids.Results([*originals, *twins[:5], *failed], suite)
    every = ids.Results([*originals, *twins], suite)
    assert not few.accepted_twins()
    assert len(every.accepted_twins()) == 20
