"""Plays the rounds one by one with sets: who is new, and whom do they tell."""


def gossip_rounds(tells: list[list[int]], starter: int, shy: list[int]) -> list[int]:
    talkers = set(range(len(tells))).difference(shy) | {starter}
    when = {starter: 0}
    fresh = {starter}
    current = 0
    while fresh:
        current += 1
        told = {other for person in fresh & talkers for other in tells[person]}
        fresh = told.difference(when)
        when.update(dict.fromkeys(fresh, current))
    return [when.get(person, -1) for person in range(len(tells))]
