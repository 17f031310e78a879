"""Flaw: the key mixes ints and strings, so comparing a number with a letter raises TypeError."""

import re


def shelf_order(labels: list[str]) -> list[str]:
    def key(label: str) -> tuple[list[object], str]:
        tokens = re.findall(r"[0-9]+|[^0-9]", label.lower())
        return [int(t) if t.isdigit() else t for t in tokens], label

    return sorted(labels, key=key)
