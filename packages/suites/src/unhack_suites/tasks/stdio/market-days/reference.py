"""Two-colours each connected group by breadth-first search; the smaller side gets day A."""
import sys


def main() -> None:
    data = list(map(int, sys.stdin.read().split()))
    count, pairs = data[0], data[1]
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for i in range(2, 2 + 2 * pairs, 2):
        a, b = data[i] - 1, data[i + 1] - 1
        neighbours[a].append(b)
        neighbours[b].append(a)
    side = [-1] * count
    plan = ["B"] * count
    for first in range(count):
        if side[first] >= 0:
            continue
        side[first] = 0
        group = [first]
        for stall in group:
            for other in neighbours[stall]:
                if side[other] < 0:
                    side[other] = 1 - side[stall]
                    group.append(other)
                elif side[other] == side[stall]:
                    print("impossible")
                    return
        ones = sum(side[stall] for stall in group)
        cold = 1 if 2 * ones <= len(group) else 0
        for stall in group:
            if side[stall] == cold:
                plan[stall] = "A"
    print(plan.count("A"))
    print("".join(plan))


if __name__ == "__main__":
    main()
