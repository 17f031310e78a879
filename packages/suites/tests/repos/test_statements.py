"""Statements come from what was observed, at three levels of help."""

import pytest

from unhack_suites.repos import statements
from unhack_suites.repos.suite import Recipe, build

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["single", "feature"])
def test_more_help_never_changes_the_task(kind):
    tasks = [build(Recipe("workflow", "unit/help", kind, level)) for level in statements.LEVELS]
    assert len({task.statement for task in tasks}) == 3
    assert all(task.files == tasks[0].files for task in tasks)
    assert all(task.reference == tasks[0].reference for task in tasks)


def test_each_level_shows_what_it_promises():
    trace, symptom, story = (
        build(Recipe("workflow", "unit/help", "single", level)).statement
        for level in statements.LEVELS
    )
    assert "Traceback (most recent call last)" in trace
    assert ">>>" in symptom
    assert "should" in symptom
    assert ">>>" not in story
    assert "README" in story


def test_a_feature_is_asked_for_by_name():
    task = build(Recipe("workflow", "unit/help", "feature", "story"))
    added = "".join(text or "" for text in task.reference.values())
    names = [word.strip("`$()").partition("(")[0] for word in task.statement.split() if "`" in word]
    assert any(name.rpartition(".")[2] in added for name in names if name)
