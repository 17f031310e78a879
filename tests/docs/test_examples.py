"""Every example of the README and the docs runs, and prints what the page says."""

from pathlib import Path

import pytest
from pages import ROOT, blocks_of, missing, page_paths, run_page

pytestmark = pytest.mark.slow

PAGES = [path for path in page_paths() if path.exists()]
RUN = {"python", "console"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def holds_examples(path: Path) -> bool:
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    return any(block.language in RUN and not block.title for block in blocks)


LONG = {
    "docs/tutorial/route-your-own-loop.md",
    "docs/tutorial/route-your-trl-run.md",
    "docs/how-to/audit-from-python.md",
    "docs/how-to/audit-in-ci.md",
    "docs/how-to/data-sets.md",
    "docs/how-to/review-a-tournament.md",
    "docs/how-to/train-on-your-task.md",
    "docs/how-to/trajectories.md",
    "docs/reference/cli.md",
    "docs/tutorial/audit-a-reward.md",
    "docs/tutorial/first-environment.md",
    "docs/tutorial/harbor-task.md",
    "docs/tutorial/own-contest.md",
    "docs/tutorial/own-task.md",
}
"""Pages that take longer than the default run allows."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.slow if named(path) in LONG else ())
        for path in PAGES
        if holds_examples(path)
    ],
    ids=named,
)
def test_the_examples_of_a_page_run_and_print_what_it_says(path, tmp_path):
    text = path.read_text(encoding="utf-8")
    lacking = missing(text)
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert run_page(text, named(path), tmp_path) > 0


def test_every_block_says_its_language():
    blocks = [(path, one) for path in PAGES for one in blocks_of(path.read_text(encoding="utf-8"))]
    assert blocks
    for path, block in blocks:
        assert block.language, f"{named(path)}:{block.line}: a fence without a language"


def test_the_tutorials_and_how_to_pages_all_hold_examples():
    for folder in ("tutorial", "how-to"):
        pages = sorted((ROOT / "docs" / folder).glob("*.md"))
        assert pages
        assert [named(path) for path in pages if not holds_examples(path)] == []


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "instead of:\n2"),
        ("```console\n$ echo one\ntwo\n```\n", "instead of:\ntwo"),
        ("```console\n$ exit 3\n```\n", "ended with 3"),
        ("```console\n$ echo one\n...\n```\n", r"instead of:\n\.\.\."),
        ("<!-- varies: t.o -->\n```console\n$ echo one\none\n```\n", "nothing that is shown"),
        ("```python\nprint(1)\n```\n<!-- varies: 2 -->\n```text\n1\n```\n", "nothing that is"),
    ],
)
def test_an_example_that_does_something_else_fails_its_page(page, complaint, tmp_path):
    with pytest.raises(AssertionError, match=complaint):
        run_page(page, "page.md", tmp_path)


def test_the_blocks_of_a_page_share_names_files_and_a_directory(tmp_path):
    page = (
        '```python title="one.py"\nVALUE = 1\n```\n'
        "```python\nimport pathlib\ntext = pathlib.Path('one.py').read_text()\n```\n"
        "```python\nprint(text, end='')\n```\n\n```text\nVALUE = 1\n```\n"
        "    ```console\n    $ cat \\\n    one.py\n    VALUE = 1\n    ```\n"
    )
    assert run_page(page, "page.md", tmp_path) == 3


def test_progress_lines_of_a_slow_machine_do_not_count(tmp_path):
    lines = "checking: 45 of 177 done, 132 left; 20 s so far; about 59 s to go at this rate\\nsound"
    page = f"```console\n$ printf '{lines}'\nsound\n```\n"
    assert run_page(page, "page.md", tmp_path) == 1


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ echo 3 done in 0.31 s, isolated by landlock\n"
        "3 done in 12 s, isolated by namespaces\n```\n",
        "```python\nprint('seed 7')\n```\n\n<!-- varies: seed \\d+ -->\n```text\nseed 41\n```\n",
        "```console\n$ echo 'tier 1: 68 of 97 done, 29 left; 16 s so far'; echo one\none\n```\n",
        "<!-- varies: a\\w -->\n<!-- varies: \\d+ -->\n```console\n$ echo ab 12\nac 7\n```\n",
    ],
)
def test_times_and_what_a_page_says_to_vary_may_differ(page, tmp_path):
    assert run_page(page, "page.md", tmp_path) == 1
