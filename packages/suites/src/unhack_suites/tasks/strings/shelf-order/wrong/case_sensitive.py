"""Flaw: upper case sorts before lower case."""

import re


def shelf_order(labels: list[str]) -> list[str]:
    def key(label: str) -> tuple[list[object], str]:
        parts = re.split(r"([0-9]+)", label)
        return [int(part) if k % 2 else part for k, part in enumerate(parts)], label

    return sorted(labels, key=key)
