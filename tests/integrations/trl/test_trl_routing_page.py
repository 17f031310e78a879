"""The tutorial on routing a TRL run, executed as a reader would, with the real TRL."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
pytest.importorskip("peft")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROOT = Path(__file__).resolve().parents[3]
PAGE = "docs/tutorial/route-your-trl-run.md"


def pages() -> Any:
    """The module that runs pages."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / "tests" / "docs" / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["pages"] = module
    spec.loader.exec_module(module)
    return module


def test_the_tutorial_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert pages().run_page(text, PAGE, tmp_path) >= 6
