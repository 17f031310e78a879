"""Maps each reachable (crew size, lead of crew one) to one choice of rowers, rower by rower."""


def best_split(strength: list[int]) -> tuple[int, list[int]]:
    size = len(strength)
    # crew size and lead -> linked list of the rowers in crew one
    states: dict[tuple[int, int], tuple] = {(1, strength[0] - strength[1]): (1, ())}
    for rower in range(3, size + 1):
        value = strength[rower - 1]
        following: dict[tuple[int, int], tuple] = {}
        for (crew, lead), members in states.items():
            if crew < size // 2:
                following[crew + 1, lead + value] = (rower, members)
            if rower - 1 - crew < size // 2:
                following[crew, lead - value] = members
        states = following
    (_, lead), members = min(states.items(), key=lambda item: abs(item[0][1]))
    chosen: list[int] = []
    while members:
        chosen.append(members[0])
        members = members[1]
    return abs(lead), chosen


input()
difference, crew_one = best_split([int(word) for word in input().split()])
print(difference)
print(*crew_one)
