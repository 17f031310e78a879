"""The pages of contests: statements as Markdown, beside the code that fills in their fields."""

from __future__ import annotations

from importlib import resources


def page(package: str | None, name: str = "statement") -> str:
    """The page `NAME.md` of a contest's package."""
    return resources.files(package or "").joinpath(f"{name}.md").read_text(encoding="utf-8")
