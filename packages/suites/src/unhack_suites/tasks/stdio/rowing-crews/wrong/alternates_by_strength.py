"""Flaw: sorts the other rowers and deals them out in turns (A B B A A B B A ...)."""
n = int(input())
strength = list(map(int, input().split()))
others = sorted(range(3, n + 1), key=lambda rower: -strength[rower - 1])
one, two = [1], [2]
weaker_first = strength[0] <= strength[1]
for place, rower in enumerate(others):
    first_turn = place % 4 in (0, 3)
    (one if first_turn == weaker_first else two).append(rower)
if len(one) != len(two):
    longer, shorter = (one, two) if len(one) > len(two) else (two, one)
    shorter.append(longer.pop())
gap = sum(strength[r - 1] for r in one) - sum(strength[r - 1] for r in two)
print(abs(gap))
print(*sorted(one))
