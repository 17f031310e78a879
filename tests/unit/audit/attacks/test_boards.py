"""Boards that a prompt holds, handed back without being solved."""

from unhack.audit.attacks.from_prompt.domains import ATTACKS, array_of, blanks_of, rows_of
from unhack.audit.search.strategies.strategy import view_of
from unhack.audit.subject import AuditProblem

SUDOKU = "Solve this:\n_ 1 _ 4\n_ _ 2 _\n3 1 2 4\n_ 4 1 _\n1 2 3 4\nUse spaces."


def test_a_board_with_blanks_goes_from_its_first_row_to_its_last():
    assert blanks_of(SUDOKU) == "\n".join(SUDOKU.splitlines()[1:6])
    assert blanks_of("6 > _   4\n    ∨\n_ < 2   _\nReplace blanks (_).") == (
        "6 > _   4\n    ∨\n_ < 2   _"
    )


def test_prose_with_full_stops_is_no_board():
    assert blanks_of("One. Two ? It was . so\nThe end.") == ""
    assert rows_of("It cost 3 and 4.\n5 apples") == ""


def test_the_largest_array_of_arrays_is_taken_and_not_the_example():
    prompt = "An empty one is [[0,0],[0,0]]. Here:\n[[0,1,0],\n [1,0,0],\n [0,0,1]]."
    assert array_of(prompt) == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert array_of("Take [[this]] and [1, 2].") == []


def test_the_longest_run_of_number_lines_is_a_matrix():
    assert rows_of("With 2 rows:\n4 9 6\n3 7 7\nand 1 2\n5 5\n") == "4 9 6\n3 7 7"


def test_a_constant_board_has_the_shape_that_pooling_leaves():
    prompt = (
        "Give 2 decimals. Pool this with a kernel of size 3:\n1 2 3 4\n5 6 7 8\n9 1 2 3\n4 5 6 7"
    )
    known = view_of(AuditProblem("p", prompt, "8 8", ("8 8",)), None, None)
    [shapes] = [one for one in ATTACKS if one.name == "boards/shapes"]
    texts = [payload.text for payload in shapes.make(known)]
    assert "\n".join(["0 0 0 0"] * 4) in texts
    assert "0 0\n0 0" in texts
    no_board = view_of(AuditProblem("q", "What is 3 + 4?", "7", ("7",)), None, None)
    assert len(texts) == len(list(shapes.make(no_board)))
