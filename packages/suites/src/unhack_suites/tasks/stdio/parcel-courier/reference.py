"""Breadth-first distances between the marked cells, then Dijkstra over (place, parcel states)."""
import heapq
import sys

Cell = tuple[int, int]


def distances(plan: list[str], start: Cell) -> dict[Cell, int]:
    steps = {start: 0}
    queue = [start]
    for row, column in queue:
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            cell = (row + dr, column + dc)
            if cell in steps or not (0 <= cell[0] < len(plan) and 0 <= cell[1] < len(plan[0])):
                continue
            if plan[cell[0]][cell[1]] != "#":
                steps[cell] = steps[row, column] + 1
                queue.append(cell)
    return steps


def fewest_steps(plan: list[str], bag: int) -> int:
    where = {mark: (r, c) for r, line in enumerate(plan) for c, mark in enumerate(line)}
    letters = "".join(sorted(mark for mark in where if mark in "abcd"))
    table = {mark: distances(plan, where[mark]) for mark in "S" + letters + letters.upper()}
    queue = [(0, "S", letters, "")]
    done: set[tuple[str, str, str]] = set()
    while queue:
        steps, here, waiting, carried = heapq.heappop(queue)
        if not waiting and not carried:
            return steps
        if (here, waiting, carried) in done:
            continue
        done.add((here, waiting, carried))
        moves = [(mark.upper(), waiting, carried.replace(mark, "")) for mark in carried]
        if len(carried) < bag:
            moves += [
                (mark, waiting.replace(mark, ""), "".join(sorted(carried + mark)))
                for mark in waiting
            ]
        for target, still_waiting, now_carried in moves:
            if where[target] in table[here]:
                far = steps + table[here][where[target]]
                heapq.heappush(queue, (far, target, still_waiting, now_carried))
    return -1


def main() -> None:
    words = sys.stdin.read().split()
    print(fewest_steps(words[3 : 3 + int(words[0])], int(words[2])))


if __name__ == "__main__":
    main()
