"""Flaw: the carry out of the first wheel is counted as the move of one more wheel."""


def wheel_moves(start: int, end: int, wheels: int) -> int:
    if end < start:
        end += 10**wheels
    moves = 0
    for number in range(start, end):
        number += 1
        moves += 1
        while number % 10 == 0 and number > 0:
            moves += 1
            number //= 10
    return moves
