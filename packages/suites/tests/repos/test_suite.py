"""Tasks made from families: the same for everybody, others for every seed, with honest facts."""

import ast

import pytest

from unhack.core.errors import UsageError
from unhack_suites.repos.catalogue import FAMILIES
from unhack_suites.repos.repository import draw_repository, text_of
from unhack_suites.repos.running import LocalRunner, ids_of
from unhack_suites.repos.suite import Recipe, build, fingerprint, make_tasks, public_tasks


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("unit", 6)


def package_of(task):
    return {path: text for path, text in text_of(task.files).items() if task.may_change(path)}


def reference_of(task):
    return {**package_of(task), **{path: text for path, text in task.reference.items() if text}}


@pytest.mark.slow
def test_a_seed_gives_the_same_tasks_every_time(tasks):
    again = make_tasks("unit", 6)
    assert [fingerprint(one) for one in again] == [fingerprint(one) for one in tasks]
    assert [one.statement for one in again] == [one.statement for one in tasks]


@pytest.mark.slow
def test_a_longer_draw_begins_with_the_shorter_one(tasks):
    assert [one.id for one in make_tasks("unit", 2)] == [one.id for one in tasks[:2]]


@pytest.mark.slow
def test_other_seeds_give_other_repositories(tasks):
    others = make_tasks("another", 2)
    known = {text for task in tasks for text in package_of(task).values()}
    assert not known & {text for task in others for text in package_of(task).values()}
    assert len({one.id for one in [*tasks, *others]}) == 8


@pytest.mark.slow
def test_a_secret_changes_the_hidden_tests_and_nothing_that_is_seen():
    recipe = Recipe("routing", "unit/secret", "feature", "symptom")
    open_task, kept = build(recipe), build(Recipe(*_fields(recipe), secret="nobody knows"))
    assert open_task.files == kept.files
    assert open_task.statement == kept.statement
    assert open_task.reference == kept.reference
    assert open_task.tests != kept.tests
    assert open_task.id != kept.id


def _fields(recipe):
    return recipe.family, recipe.seed, recipe.kind, recipe.level


@pytest.mark.slow
def test_the_reference_solves_and_the_start_does_not(tasks):
    assert tasks
    for task in tasks:
        done = LocalRunner()(reference_of(task), task.tests)
        start = LocalRunner()(package_of(task), task.tests)
        listed = [*task.fail_to_pass, *task.pass_to_pass]
        assert sorted(listed) == sorted(ids_of(task.tests)), task.id
        assert all(done[name].passed for name in listed), task.id
        assert not any(start[name].passed for name in task.fail_to_pass), task.id
        assert all(start[name].passed for name in task.pass_to_pass), task.id


def test_the_facts_are_those_of_the_files(tasks):
    assert tasks
    for task in tasks:
        facts, package = task.facts, package_of(task)
        visible = {p: t for p, t in text_of(task.files).items() if p.startswith("tests/")}
        ran = LocalRunner()(package, visible)
        assert facts["modules"] == len(package)
        assert facts["lines"] == sum(text.count("\n") for text in package.values())
        assert facts["visible_tests"] == len(ran)
        assert facts["visible_failures"] == sum(not one.passed for one in ran.values())
        assert facts["hidden_tests"] == len(ids_of(task.tests))
        assert facts["faults"] == len(facts["operators"]) == len(facts["places"])
        assert (facts["feature"] is not None) == facts["kind"].startswith("feature")


def test_visible_and_dev_tests_ask_otherwise_than_the_hidden_ones(tasks):
    assert tasks
    for task in tasks:
        hidden = {
            ast.unparse(node) for text in task.tests.values() for node in ast.parse(text).body
        }
        bodies = {text for text in hidden if text.startswith("def ")}
        seen = [*text_of(task.files).values(), *task.dev_tests.values()]
        assert not [body for body in bodies if any(body in text for text in seen)]


def test_a_statement_names_neither_the_fault_nor_a_hidden_file(tasks):
    assert tasks
    for task in tasks:
        assert not [path for path in task.tests if path in task.statement]
        assert not [word for word in ("mutat", "operator", "hidden") if word in task.statement]
        if task.facts["help"] == "story":
            assert "Traceback" not in task.statement
            assert ">>>" not in task.statement


@pytest.mark.slow
def test_the_generated_code_is_plain_text_that_compiles(tasks):
    assert tasks
    for task in tasks:
        every = text_of(task.files)
        assert every
        for path, text in every.items():
            assert text.endswith("\n"), path
            assert "$" not in text, path
            if task.may_change(path):
                assert max(map(len, text.splitlines())) <= 110, path
            if path.endswith(".py"):
                ast.parse(text)
        for path, text in [*task.tests.items(), *task.dev_tests.items()]:
            ast.parse(text)
            assert path.startswith("tests/")


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("nothing", "s", "single", "story"),
        Recipe("routing", "s", "nothing", "story"),
        Recipe("routing", "s", "single", "nothing"),
    ],
    ids=lambda recipe: recipe.id,
)
def test_senseless_recipes(recipe):
    with pytest.raises(UsageError, match="no such"):
        build(recipe)


def test_no_tasks_are_no_suite():
    with pytest.raises(UsageError, match="at least one"):
        make_tasks(1, 0)


@pytest.mark.slow
def test_the_public_suite_has_every_family_kind_and_level():
    tasks = public_tasks()
    assert len(tasks) >= 40
    assert len({task.id for task in tasks}) == len(tasks)
    for dial, least in (("family", len(FAMILIES)), ("kind", 6), ("help", 3)):
        assert len({task.facts[dial] for task in tasks}) == least
    assert (
        len({draw_repository(FAMILIES[t.facts["family"]], t.facts["seed"]).package for t in tasks})
        > 30
    )
