from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from unhack.cli import terminal


@given(text=st.text(st.characters(codec=None)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_lines_are_ascii_and_read_back_the_same(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    terminal.write_json({"reason": text})
    line = capsys.readouterr().out
    assert line.isascii()
    assert line.endswith("}\n")
    assert line.count("\n") == 1
    assert all(char.isprintable() for char in line[:-1])
    assert json.loads(line) == {"reason": text}


def test_text_is_written_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\ttab [bold]" + "long " * 100 + "\r\n  end"
    terminal.write_text(text + "\n\n")
    assert capsys.readouterr().out == text + "\n"


def test_progress_is_silent_where_no_terminal_is(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.progress("working", total=2) as advance:
        advance()
        advance()
    assert capsys.readouterr() == ("", "")


def test_a_pipe_gets_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.results().print("words [red]in[/red] red", style="red")
    assert capsys.readouterr().out == "words [red]in[/red] red\n"


@pytest.mark.parametrize("piped", [True, False])
def test_a_bar_leaves_stdout_alone_where_it_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, piped: bool
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: not piped, raising=False)
    screen = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(terminal, "remarks", lambda: screen)
    monkeypatch.setattr(sys, "stdout", out)
    with terminal.progress("working", total=2) as advance:
        assert (sys.stdout is out) is piped
        terminal.write_json({"a": 1})
        advance()
    assert (out.getvalue() == '{"a": 1}\n') is piped
