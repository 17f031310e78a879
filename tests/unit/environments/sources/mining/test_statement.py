"""Statements tell what was observed, and quote nothing secret."""

from __future__ import annotations

from unhack.environments.sources.mining.leaks import copied_share, shingles, shingles_of
from unhack.environments.sources.mining.statement import missing_name, write_statement
from unhack.environments.sources.mining.test_runs import Failure, TestRun

NAME = "tests/test_core.py::test_area"


def run(name: str = NAME, failure: Failure | None = None, **call: object) -> TestRun:
    record = {"path": "src/shapes/core.py", "name": "area", "arguments": ["3", "5"], **call}
    failed = {} if failure is None else {name: failure}
    return TestRun(frozenset(), failed, {}, calls={name: [record]} if call else {})


def told(before: TestRun, after: TestRun, names: tuple[str, ...] = (NAME,), **more: str) -> str:
    secret = shingles_of(more.values())
    return write_statement(before, after, names, roots=("shapes/",), secret=secret)


def test_a_call_is_told_with_both_results() -> None:
    text = told(run(result="8"), run(result="15"))
    assert "`shapes.core.area(3, 5)` gives `8`; it is expected that it gives `15`" in text
    assert "test_area" not in text


def test_errors_are_told_where_a_result_was_expected_and_the_other_way() -> None:
    text = told(run(error="KeyError", message="'x'"), run(result="15"))
    assert "raises `KeyError` ('x'); it is expected that it gives `15`" in text
    text = told(run(result="15"), run(error="ValueError", message="negative"))
    assert "it is expected that it raises `ValueError` (negative)" in text


def test_what_quotes_a_hidden_test_or_names_an_address_is_left_out() -> None:
    words = "'one two three four five six seven eight nine'"
    before, after = run(result=words), run(result="15")
    assert told(before, after, test=f"assert x == {words}") == ""
    assert told(before, after, test="something else") != ""
    assert told(run(result="<Thing object>"), run(result="15")) == ""


def test_at_most_half_of_the_failing_tests_are_shown() -> None:
    names = [f"{NAME}{number}" for number in range(4)]
    before, after = (
        TestRun(frozenset(), {}, {}, calls={
            name: [{"path": "shapes/core.py", "name": "area", "arguments": [name[-1]],
                    "result": result}] for name in names})
        for result in ("0", "1")
    )  # fmt: skip
    text = told(before, after, tuple(names))
    assert text.count("`shapes.core.area(") == 2


def test_of_a_file_that_could_not_be_collected_only_new_names_are_told() -> None:
    record = {"path": "shapes/core.py", "arguments": ["2"], "result": "8"}
    calls = {NAME: [{**record, "name": name} for name in ("area", "cube", "Solid.volume")]}
    error = {"tests/test_core.py": "ImportError: cannot import name 'cube' from 'shapes' (x)"}
    before = TestRun(frozenset(), {}, error)
    after = TestRun(frozenset({NAME}), {}, {}, calls=calls)
    text = write_statement(
        before, after, [NAME], roots=("shapes/",), secret=frozenset(), brought={"cube", "Solid"}
    )
    assert "shapes.core.area" not in text
    assert "`shapes.core.cube(2)` is expected to work" in text
    assert "`shapes.core.Solid.volume(2)` is expected to work" in text
    assert "`cube` is not there" in text


def test_an_error_without_a_call_is_told_with_its_place() -> None:
    failure = Failure("TypeError", "bad operand\nmore", "call", "shapes/core.py:7 in area")
    text = told(run(failure=failure), run())
    assert "`TypeError` is raised in `area` of `shapes/core.py`: bad operand" in text


def test_an_assertion_without_a_call_is_told_by_its_values() -> None:
    message = "assert 4 == 3\n +  where 4 = f(2)"
    text = told(run(failure=Failure("AssertionError", message)), run())
    assert "A check ends with `assert 4 == 3, where 4 = f(2)`" in text
    assert told(run(failure=Failure("AssertionError", "words of a test")), run()) == ""


def test_the_missing_name_of_an_import_error_is_found() -> None:
    assert missing_name("ImportError: cannot import name 'volume' from 'shapes' (x)") == "volume"
    assert missing_name("ModuleNotFoundError: No module named 'shapes.solid'") == "shapes.solid"
    assert missing_name("AttributeError: module 'shapes' has no attribute 'cube'") == "cube"
    assert missing_name("SyntaxError: invalid syntax") == ""


def test_a_copy_of_the_reference_is_seen_whatever_its_layout() -> None:
    new = "def area(a, b):\n    total = a * b\n    return check(total, minimum=0, name=a)\n"
    old = f"x = 1\n{new}".encode()
    assert copied_share({"a.py": b"y = 2\n", "b.py": old}, {"a.py": f"y = 2\n{new}"}) == (
        1.0,
        "b.py",
    )
    assert len(shingles(new)) > 3
    share, path = copied_share({"old/x.txt": new.replace("\n", "  ").encode()}, {"a.py": new})
    assert (share, path) == (1.0, "old/x.txt")
    assert copied_share({"a.py": b"def area(a, b): ...\n"}, {"a.py": new})[0] == 0
