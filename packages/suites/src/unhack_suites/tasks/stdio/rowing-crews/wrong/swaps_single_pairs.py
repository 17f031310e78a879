"""Flaw: local search, stops when no exchange of one pair of rowers makes the race closer."""
n = int(input())
strength = list(map(int, input().split()))
one = [1, *range(3, n // 2 + 2)]
two = [2, *range(n // 2 + 2, n + 1)]
gap = sum(strength[r - 1] for r in one) - sum(strength[r - 1] for r in two)
improved = True
while improved:
    improved = False
    for i in range(1, len(one)):
        for j in range(1, len(two)):
            new = gap - 2 * strength[one[i] - 1] + 2 * strength[two[j] - 1]
            if abs(new) < abs(gap):
                one[i], two[j] = two[j], one[i]
                gap = new
                improved = True
print(abs(gap))
print(*sorted(one))
