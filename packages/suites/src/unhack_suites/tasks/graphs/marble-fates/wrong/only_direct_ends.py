"""Flaw: looks at one step only; marbles that reach an end later are called rolling."""


def marble_fates(chutes: list[int]) -> list[int]:
    out = chutes.count(-1)
    stuck = chutes.count(-2)
    return [out, stuck, len(chutes) - out - stuck]
