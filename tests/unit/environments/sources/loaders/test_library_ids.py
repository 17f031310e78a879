"""Ids of unittest and Django become ids of pytest, where a file holds them."""

import pytest

from unhack.environments.sources.loaders.library_ids import pytest_id

PATHS = ("tests/test_core.py", "tests/gis/tests.py", "src/pkg/tests/test_in.py", "test_top.py")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("test_area (tests.test_core.TestArea)", "tests/test_core.py::TestArea::test_area"),
        (
            "test_area (tests.test_core.TestArea.test_area)",
            "tests/test_core.py::TestArea::test_area",
        ),
        ("tests.test_core.TestArea.test_area", "tests/test_core.py::TestArea::test_area"),
        ("test_map (gis.tests.MapTests)", "tests/gis/tests.py::MapTests::test_map"),
        ("test_in (pkg.tests.test_in.A)", "src/pkg/tests/test_in.py::A::test_in"),
        ("test_a (test_top.Outer.Inner)", "test_top.py::Outer::Inner::test_a"),
        ("test_area (tests.test_gone.TestArea)", ""),
        ("test_area (tests.test_core.TestArea) (i=1)", ""),
        ("An area is never negative.", ""),
        ("test_area (tests/test_core.TestArea)", ""),
        ("test_area", ""),
    ],
)
def test_an_id_names_one_test_of_a_file_or_nothing(name: str, wanted: str) -> None:
    assert pytest_id(name, PATHS) == wanted
