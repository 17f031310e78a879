"""Flaw: greedy, gives the strongest rower left to the weaker crew that still has a free place."""
n = int(input())
strength = list(map(int, input().split()))
crews: list[list[int]] = [[1], [2]]
sums = [strength[0], strength[1]]
for rower in sorted(range(3, n + 1), key=lambda r: -strength[r - 1]):
    pick = 0 if sums[0] <= sums[1] else 1
    if len(crews[pick]) == n // 2:
        pick = 1 - pick
    crews[pick].append(rower)
    sums[pick] += strength[rower - 1]
print(abs(sums[0] - sums[1]))
print(*sorted(crews[0]))
