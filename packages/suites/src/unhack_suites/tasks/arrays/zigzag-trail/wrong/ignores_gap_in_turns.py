"""Flaw: finds the turning points first and then drops small steps, so a trail breaks apart."""


def longest_zigzag(altitudes: list[int], gap: int) -> int:
    if not altitudes:
        return 0
    turns = [altitudes[0]]
    for here in altitudes[1:]:
        if here == turns[-1]:
            continue
        if len(turns) >= 2 and (turns[-1] > turns[-2]) == (here > turns[-1]):
            turns[-1] = here
        else:
            turns.append(here)
    return 1 + sum(1 for a, b in zip(turns, turns[1:]) if abs(a - b) >= gap)
