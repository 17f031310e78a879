"""The page of data sets is made of the code's table."""

from data_sets_page import PAGE, with_table


def test_the_page_is_what_the_table_says():
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_table(text), "run python tests/docs/data_sets_page.py"
