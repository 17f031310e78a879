"""Cases become tests and sessions; what is no plain data is refused."""

import pytest

from unhack.core.errors import UsageError
from unhack_suites.repos.family import UseCase
from unhack_suites.repos.loader import Loaded
from unhack_suites.repos.recording import (
    Line,
    as_file,
    as_session,
    as_test,
    check,
    double_quoted,
    is_plain,
    play,
)  # fmt: skip

FILES = {
    "pkg/__init__.py": (
        '__all__ = ["Box", "Full"]\n\nclass Full(Exception):\n    pass\n\nclass Box:\n'
        "    def __init__(self):\n        self.items = []\n\n    def put(self, item):\n"
        "        if len(self.items) == 1:\n            raise Full('one fits')\n"
        "        self.items.append(item)\n        return self.items\n"
    )
}


def case(*lines):
    return UseCase("topic", "claim", "Rule.", lines)


def played(*lines):
    return play(case(*lines), Loaded(FILES), "pkg")


def test_questions_are_recorded_with_values_and_exceptions():
    lines = played("box = Box()", "? box.put('a')", "? box.put('b')", "? len(box.items) == 1")
    assert as_test("claim", lines) == (
        "def test_claim():\n    box = Box()\n    assert box.put('a') == ['a']\n"
        "    with pytest.raises(Full):\n        box.put('b')\n    assert len(box.items) == 1\n"
    )


def test_a_file_imports_what_it_uses():
    text = as_file("Tests.", "pkg", {"one": played("? Box().put(1)")}, {"Box", "Full"})
    assert text.splitlines()[2] == "from pkg import Box"
    assert "pytest" not in text


def test_a_session_shows_answers_and_the_end_of_errors():
    text = as_session("pkg", played("box = Box()", "? box.put(1)", "? box.put(2)"), ["Box"])
    assert text.splitlines()[-2:] == ["  ...", "Full: one fits"]
    assert "[1]" in text.splitlines()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("box = Box()",), "asks nothing"),
        (("? Box()",), "no plain data"),
        (("box = Bx()", "? box.put(1)"), "raises NameError"),
    ],
)
def test_cases_that_make_no_test(lines, said):
    with pytest.raises(UsageError, match=said):
        check(case(*lines), played(*lines))


def test_plain_data_is_plain_all_the_way_down():
    assert is_plain({"a": [1, (2.0, None), {b"x"}], 3: True})
    assert not is_plain([object()])
    assert not is_plain({1: type("Int", (int,), {})(3)})


def test_strings_get_double_quotes_where_nothing_is_lost():
    assert double_quoted("f('a', 'it\"s', f'{x}', b'z')\n") == "f(\"a\", 'it\"s', f'{x}', b'z')\n"


def test_long_answers_stand_on_lines_of_their_own():
    text = as_test("x", [Line("f()", True, repr(["word" * 5] * 9))])
    assert "expected = [" in text
    assert "assert f() == expected" in text
    assert max(map(len, text.splitlines())) <= 100
