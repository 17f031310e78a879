"""Sort key of token tuples; the original string is the last part of the key."""

import re

TOKEN = re.compile(r"[0-9]+|[^0-9]")


def _key(label: str) -> tuple[list[tuple[int, int]], str]:
    tokens = []
    for token in TOKEN.findall(label):
        if token[0] in "0123456789":
            tokens.append((0, int(token)))
        else:
            tokens.append((1, ord(token.lower())))
    return tokens, label


def shelf_order(labels: list[str]) -> list[str]:
    return sorted(labels, key=_key)
