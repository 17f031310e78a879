"""Flaw: collects the labels in a set, so equal labels are lost."""

import re


def shelf_order(labels: list[str]) -> list[str]:
    def key(label: str) -> tuple[list[tuple[int, int]], str]:
        tokens = re.findall(r"[0-9]+|[^0-9]", label.lower())
        return [(0, int(t)) if t.isdigit() else (1, ord(t)) for t in tokens], label

    return sorted(set(labels), key=key)
