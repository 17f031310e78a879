"""Flaw: someone told in a round already talks later in that same round."""


def gossip_rounds(tells: list[list[int]], starter: int, shy: list[int]) -> list[int]:
    silent = set(shy) - {starter}
    heard = [-1] * len(tells)
    heard[starter] = 0
    current = 0
    changed = True
    while changed:
        changed = False
        current += 1
        for person, people in enumerate(tells):
            if heard[person] == -1 or person in silent:
                continue
            for other in people:
                if heard[other] == -1:
                    heard[other] = current
                    changed = True
    return heard
