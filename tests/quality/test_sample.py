"""The sample of `.ci/run` has a member of every family of slow tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integrations.run_stacks import stacks

from .families import family, files_of_tests, marks, without_a_sample
from .source_roots import ROOT


@pytest.mark.slow
def test_every_family_of_slow_tests_has_a_sample() -> None:
    files = [(path.relative_to(ROOT), path.read_text()) for path in files_of_tests()]
    families = {family(path) for path, _ in files}
    assert {
        "tests/escape/test_escapes.py",
        "tests/unit/server",
        "experiments/tests/repairs",
    } <= families
    assert without_a_sample(files) == []


def test_a_new_family_without_a_sample_is_named() -> None:
    slow, sampled = "@pytest.mark.slow", "pytestmark = [pytest.mark.slow, pytest.mark.sample]"
    found = without_a_sample(
        [
            (Path("tests/unit/new/deep/test_a.py"), f"{slow}\ndef test_it(): pass"),
            (Path("tests/unit/old/test_b.py"), f"{slow}\ndef test_it(): pass"),
            (Path("tests/unit/old/deep/test_c.py"), sampled),
            (Path("tests/unit/fast/test_d.py"), "def test_it(): pass"),
            (Path("tests/escape/test_new.py"), "CASES = quick_ones([1, 2], [1])"),
            (Path("tests/escape/test_old.py"), sampled),
        ]
    )
    assert found == ["tests/escape/test_new.py", "tests/unit/new"]


def test_packages_have_families_of_their_own() -> None:
    assert (
        family(Path("packages/contests/tests/kernels/gpu/test_a.py"))
        == "packages/contests/tests/kernels"
    )
    assert family(Path("packages/bench/tests/test_a.py")) == "packages/bench/tests"
    assert marks("x = pytest.mark.long") == set()


def test_two_stacks_are_sampled() -> None:
    assert len([stack for stack in stacks() if stack.ci]) == 2
