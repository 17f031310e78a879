"""Templates: parts, forms, wordings, and their faults."""

import pytest

from unhack.core.errors import UsageError
from unhack_suites.repos.repository import Choices, render

TEXT = """\
<<first|second>> $name
%if extra
more
%form
one
%or
other
%end
%else
less
%end
last
"""


def choices(*parts, flipped=False, seed="s"):
    return Choices(seed, {"name": "N"}, frozenset(parts), flipped)


def test_a_part_stands_only_where_it_is_on():
    assert "more" in render(TEXT, choices("extra"), path="p")
    off = render(TEXT, choices(), path="p")
    assert "less" in off
    assert "more" not in off


def test_the_flipped_form_is_the_other_one():
    texts = {render(TEXT, choices("extra", flipped=flip), path="p") for flip in (False, True)}
    assert {"one" in text for text in texts} == {True, False}
    assert {"other" in text for text in texts} == {True, False}


def test_a_part_that_is_off_changes_no_wording_elsewhere():
    for seed in "abcdef":
        on, off = (render(TEXT, choices(*p, seed=seed), path="p") for p in (("extra",), ()))
        assert on.splitlines()[0] == off.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [("%if x\n", "not closed"), ("%end\n", "no such directive"), ("$nobody\n", "draws no word"),
     ("%fi x\n", "no such directive")],
)  # fmt: skip
def test_broken_templates(text, said):
    with pytest.raises(UsageError, match=said):
        render(text, choices(), path="p")
