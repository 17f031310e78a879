"""Every family: both forms right, features removable, every case a test."""

import ast

import pytest

from unhack_suites.repos.catalogue import FAMILIES
from unhack_suites.repos.repository import draw_repository
from unhack_suites.repos.running import LocalRunner


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_both_forms_answer_alike(name):
    repository = draw_repository(FAMILIES[name], "unit")
    suite = repository.suite("dev")
    plain, flipped = repository.sources(), repository.sources(flipped=True)
    assert plain != flipped
    for sources in (plain, flipped):
        failed = [i for i, ran in LocalRunner()(sources, suite).items() if not ran.passed]
        assert failed == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_removed_feature_takes_its_tests_along_and_nothing_else(name):
    removed = 0
    for seed in ("one", "two", "three"):
        repository = draw_repository(FAMILIES[name], seed)
        hidden = repository.suite("hidden")
        for feature in repository.features:
            sources = repository.sources(without=feature.name)
            rest = repository.suite("hidden", without=feature.name)
            assert all(ran.passed for ran in LocalRunner()(sources, rest).values())
            assert not all(ran.passed for ran in LocalRunner()(sources, hidden).values())
            removed += 1
    assert removed


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_packages_have_several_modules_and_an_interface(name):
    repository = draw_repository(FAMILIES[name], "unit")
    sources = repository.sources()
    assert len(sources) >= 5
    assert 150 <= sum(text.count("\n") for text in sources.values()) <= 500
    for path, text in sources.items():
        assert ast.get_docstring(ast.parse(text)), path
    assert "__all__" in sources[f"{repository.package}/__init__.py"]
    assert len(repository.family.features) >= 1
