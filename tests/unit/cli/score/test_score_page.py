from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.unit.cli.conftest import SEATS, Run, write_rows

from unhack.cli.score import page as pages
from unhack.cli.score.completions import CompletionRow
from unhack.cli.score.screen import Scoring
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Status, Verdict
from unhack.tasks.batch import Batch, groups_of
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier

EVIL = "</pre></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x1b[31m\ud800"


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def scoring(texts: list[str], *, task: Task | None = None, size: int | None = None) -> Scoring:
    """Completions that all fail but for each third, judged by nobody."""
    task = task or Task(Problem("p", "Do it."), FunctionVerifier("f", (Case((), expected=EVIL),)))
    rows = [CompletionRow(text, f"c.jsonl:{n + 1}") for n, text in enumerate(texts)]
    tasks = [task] * len(rows)
    groups = groups_of(tasks, len(rows), group_size=size)
    work = Scoring(rows, tasks, groups, "grpo" if size else None, False)
    for index, text in enumerate(texts):
        passed = index % 3 == 0
        status = Status.PASSED if passed else Status.FAILED
        reason = "" if passed else f"case 1 of 1: {text[:100]}"
        case = CaseResult(passed, reason, output=text[:2000])
        work.verdicts[index] = Verdict(status, float(passed), reason, (case,))
    return work


def page(work: Scoring) -> str:
    verdicts = tuple(work.verdicts[index] for index in range(len(work.rows)))
    return pages.page(work, Batch(verdicts, tuple(map(tuple, work.groups))))


@pytest.mark.parametrize("kind", ["function", "stdio"])
def test_a_completion_is_text_on_the_page_and_nothing_else(kind: str) -> None:
    verifier = StdioVerifier((StdioCase(EVIL, EVIL + "x"),))
    task = Task(Problem(EVIL, "Do it."), verifier) if kind == "stdio" else None
    html = page(scoring([EVIL] * 6, task=task))
    tags = Tags(html)
    assert not {"script", "img", "iframe", "object", "a", "link", "base", "form"} & tags.tags
    assert not {name for name in tags.attributes if name.startswith("on") or name == "src"}
    assert not set("\u202e\x1b\ud800") & set(html)
    assert "&lt;script&gt;alert(1)" in html
    assert "default-src 'none'" in html


def test_the_page_has_rates_reasons_and_pass_at_k() -> None:
    html = page(scoring(["a", "b", "c"] * 4, size=6))
    assert "<dt>pass rate</dt><dd>33.3%</dd>" in html
    assert "<dt>pass@1</dt><dd>0.333</dd>" in html
    assert "<dt>pass@6</dt><dd>1.000</dd>" in html
    assert "<dt>advantage</dt>" in html
    assert re.search(r"<td>b</td><td class=\"n\">4</td>", html)


def test_filters_hide_what_is_not_chosen_and_need_no_script() -> None:
    html = page(scoring(["a", "b", "c"]))
    assert html.count('<details class="item card o-failed"') == 2
    assert '<option value="failed">failed</option>' in html
    assert 'option[value="failed"]:checked) .item:not(.o-failed){display:none}' in html


@pytest.mark.slow
def test_ten_thousand_long_completions_give_a_bounded_page_that_says_what_is_left_out() -> None:
    html = page(scoring([f"{n}" + "\"'&<" * 2000 for n in range(12_000)]))
    assert len(html) < pages.MAX_PAGE_CHARS + 25_000_000
    assert html.count('<details class="item') == pages.MAX_ITEMS
    assert "2,000 of 12,000 completions are left out (passed ones first)" in html
    assert "lose their middle" in html


def test_a_full_page_lists_the_rest_without_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE_CHARS", 3000)
    html = page(scoring(["text of it"] * 50))
    assert html.count('<details class="item') == 50
    assert re.search(r"The last \d+ are listed without their texts", html)


def test_the_command_writes_a_page(run: Run, tmp_path: Path) -> None:
    rows = [{"completion": "def expand_seats(spec):\n    return []\n"}, {"completion": ""}]
    path = write_rows(tmp_path / "c.jsonl", rows)
    out = tmp_path / "page.html"
    ran = run("score", SEATS, path, "--html", out)
    assert ran.code == 0
    assert f"wrote {out}" in ran.err
    html = out.read_text(encoding="utf-8")
    assert "input of case 1" in html
    assert "expand_seats(" in html


@pytest.mark.parametrize(
    ("place", "words"), [("", "is a directory"), ("no/p.html", "no such directory")]
)
def test_a_page_that_cannot_be_written_is_refused_first(
    run: Run, tmp_path: Path, place: str, words: str
) -> None:
    path = write_rows(tmp_path / "c.jsonl", [{"completion": ""}])
    ran = run("score", SEATS, path, "--html", tmp_path / place)
    assert ran.code == 2
    assert words in ran.err
    assert ran.out == ""
