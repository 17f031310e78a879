"""Recursive descent over summaries (length, first run, last run, longest run), never expanded."""

from typing import NamedTuple


class Piece(NamedTuple):
    """What must be known of a stretch of ribbon to join it to others."""

    length: int
    first: str
    head: int
    last: str
    tail: int
    longest: int


EMPTY = Piece(0, "", 0, "", 0, 0)


def _join(left: Piece, right: Piece) -> Piece:
    if left.length == 0 or right.length == 0:
        return left if right.length == 0 else right
    head, tail = left.head, right.tail
    longest = max(left.longest, right.longest)
    if left.last == right.first:
        longest = max(longest, left.tail + right.head)
        if left.head == left.length:
            head += right.head
        if right.tail == right.length:
            tail += left.tail
    return Piece(left.length + right.length, left.first, head, right.last, tail, longest)


def _repeat(piece: Piece, count: int) -> Piece:
    result = EMPTY
    while count:
        if count & 1:
            result = _join(result, piece)
        piece = _join(piece, piece)
        count >>= 1
    return result


def longest_run(pattern: str) -> int:
    at = 0

    def sequence() -> Piece:
        nonlocal at
        result = EMPTY
        while at < len(pattern) and pattern[at] != ")":
            if pattern[at] == "(":
                at += 1
                item = sequence()
            else:
                item = Piece(1, pattern[at], 1, pattern[at], 1, 1)
            at += 1
            start = at
            while at < len(pattern) and pattern[at].isdigit():
                at += 1
            count = int(pattern[start:at]) if at > start else 1
            result = _join(result, _repeat(item, count))
        return result

    return sequence().longest
