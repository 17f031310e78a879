"""Flaw: trusts `textwrap`, which cuts long words without a hyphen and fills the current line."""

import textwrap


def poster_lines(text: str, width: int) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)
