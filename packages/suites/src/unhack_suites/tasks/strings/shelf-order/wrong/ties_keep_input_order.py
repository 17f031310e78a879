"""Flaw: labels with equal tokens stay in input order instead of being compared as strings."""

import re


def shelf_order(labels: list[str]) -> list[str]:
    def key(label: str) -> list[object]:
        parts = re.split(r"([0-9]+)", label.lower())
        return [int(part) if k % 2 else part for k, part in enumerate(parts)]

    return sorted(labels, key=key)
