"""Keeps the batches in a heap by (last day, number) and drops the spoiled ones from its top."""
import heapq
import sys


def main() -> None:
    lines = sys.stdin.read().splitlines()
    heap: list[tuple[int, int]] = []
    left: dict[int, int] = {}
    today = stock = waste = 0
    for line in lines[1 : 1 + int(lines[0])]:
        action, *numbers = line.split()
        today, count = int(numbers[0]), int(numbers[1])
        while heap and heap[0][0] < today:
            _, batch = heapq.heappop(heap)
            waste += left[batch]
            stock -= left[batch]
        if action == "add":
            batch = len(left) + 1
            left[batch] = count
            stock += count
            heapq.heappush(heap, (int(numbers[2]), batch))
            continue
        if stock < count:
            print("short", count - stock)
            continue
        stock -= count
        taken: list[str] = []
        while count:
            batch = heap[0][1]
            jars = min(count, left[batch])
            left[batch] -= jars
            count -= jars
            taken.append(f"{batch}:{jars}")
            if left[batch] == 0:
                heapq.heappop(heap)
        print(*taken)
    print("waste", waste)


if __name__ == "__main__":
    main()
