"""The page: whole, of one file, and every text in it is text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from unhack.reporting.chart import Axis, Chart
from unhack.reporting.page import (
    card,
    document,
    figure,
    legend,
    section,
    table,
    top,
)
from unhack.reporting.text import safe

HOSTILE = st.text(st.sampled_from("<>&\"'$\x1b\u202e\n]a;/!-"), min_size=1, max_size=20)
VOID = {"meta"}


class Reader(HTMLParser):
    """Tags with their attributes, and texts; fails where tags do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.links += [name for name, _ in attrs if name in ("src", "href", "srcset", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def whole(text: str) -> str:
    """A page of all parts with `text` wherever they take text."""
    chart = Chart(Axis(0, 1, text), Axis(0, 1, text), text)
    chart.point((0.5, 0.5), text, kind="s0", label=text)
    return document(
        text,
        [
            top(safe(text), why=safe(text), figures={text: text}, word=text, tone="good"),
            section(text, card(safe(text), note=safe(text))),
            figure(text, [chart.svg()], note=safe(text), legend=legend({text: "s0"}, lines=True)),
            section("t", table((safe(text), "n"), [(safe(text), "1")])),
            "",
        ],
    )


@given(HOSTILE)
def test_every_text_of_a_page_is_escaped(text: str) -> None:
    read, plain = Reader(whole(text)), Reader(whole("a"))
    assert read.tags == plain.tags
    assert not set("".join(read.words)) & {"\x1b", "\u202e"}


def test_a_page_refers_to_nothing_outside_itself() -> None:
    text = whole("a")
    read = Reader(text)
    assert not {tag for tag, _ in read.tags} & {"script", "link", "img", "iframe", "object", "base"}
    assert read.links == []
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face|image-set", text)
    assert "Content-Security-Policy\" content=\"default-src 'none'; style-src" in text
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>\n")


def test_words_stand_left_and_numbers_right() -> None:
    text = table(("a", "b", "c"), [("x", "1", "2")], words=range(2))
    assert '<th>a</th><th>b</th><th class="n">c</th>' in text
    assert '<td>x</td><td>1</td><td class="n">2</td>' in text
    assert "<thead>" not in table((), [("x", "y")], words=(0, 1))


def test_a_table_that_takes_the_focus_has_a_name() -> None:
    text = table(("<b>a</b>", "b &lt;&quot;", ""), [("x", "1", "2")])
    assert 'role="group" aria-label="table: a, b &lt;&quot;"><table>' in text
    assert 'aria-label="table"><table>' in table((), [("x", "y")])


def test_what_is_wider_than_a_phone_scrolls_by_itself() -> None:
    text = whole("a")
    for wide in ("<table", "<svg"):
        assert text.count(wide) == len(re.findall(f'class="scroll" tabindex="0"[^>]*>{wide}', text))
