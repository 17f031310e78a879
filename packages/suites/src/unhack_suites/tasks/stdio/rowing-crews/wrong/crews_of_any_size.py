"""Flaw: a plain subset sum that does not force both crews to have n / 2 rowers."""
n = int(input())
strength = list(map(int, input().split()))
total = sum(strength)
reach: dict[int, list[int]] = {strength[0]: [1]}
for rower in range(3, n + 1):
    for amount, crew in list(reach.items()):
        reach.setdefault(amount + strength[rower - 1], [*crew, rower])
best = min(reach, key=lambda amount: abs(total - 2 * amount))
print(abs(total - 2 * best))
print(*reach[best])
