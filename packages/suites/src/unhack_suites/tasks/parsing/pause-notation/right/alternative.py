"""Reads the text character by character, keeping the digits of the current part."""

UNITS = {"d": (3, 86400, 0), "h": (2, 3600, 24), "m": (1, 60, 60), "s": (0, 1, 60)}


def pause_seconds(text: str) -> int:
    total = 0
    rank = 4
    digits = ""
    for character in text:
        if character in "0123456789":
            digits += character
            continue
        if character not in UNITS or not digits:
            raise ValueError("unexpected character")
        own_rank, seconds, limit = UNITS[character]
        if own_rank >= rank:
            raise ValueError("wrong order of units")
        if digits[0] == "0" and digits != "0":
            raise ValueError("leading zero")
        if rank < 4 and int(digits) >= limit:
            raise ValueError("part too large")
        total += int(digits) * seconds
        rank = own_rank
        digits = ""
    if digits or rank == 4:
        raise ValueError("missing unit")
    return total
