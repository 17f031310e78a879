"""Flaw: presses every lamp that is on, as if nothing else were switched."""


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    return [[r, c] for r, row in enumerate(lamps) for c, lamp in enumerate(row) if lamp]
