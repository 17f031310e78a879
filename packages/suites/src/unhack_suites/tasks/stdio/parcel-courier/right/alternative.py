"""One breadth-first search over (cell, waiting mask, carried mask), step by step."""
rows, columns, bag = map(int, input().split())
width = columns + 2
plan = "#" * width + "".join(f"#{input().strip()}#" for _ in range(rows)) + "#" * width
everything = sum(1 << "abcd".index(mark) for mark in plan if mark in "abcd")


def variants(cell: int, waiting: int, carried: int) -> list[tuple[int, int, int]]:
    mark = plan[cell]
    if mark in "ABCD":
        carried &= ~(1 << "ABCD".index(mark))
    states = [(cell, waiting, carried)]
    if mark in "abcd":
        bit = 1 << "abcd".index(mark)
        if waiting & bit and carried.bit_count() < bag:
            states.append((cell, waiting & ~bit, carried | bit))
    return states


def search() -> int:
    frontier = [(plan.index("S"), everything, 0)]
    seen = set(frontier)
    steps = 0
    while frontier:
        following = []
        for cell, waiting, carried in frontier:
            if waiting == 0 and carried == 0:
                return steps
            for neighbour in (cell - 1, cell + 1, cell - width, cell + width):
                if plan[neighbour] == "#":
                    continue
                for state in variants(neighbour, waiting, carried):
                    if state not in seen:
                        seen.add(state)
                        following.append(state)
        frontier = following
        steps += 1
    return -1


print(search())
