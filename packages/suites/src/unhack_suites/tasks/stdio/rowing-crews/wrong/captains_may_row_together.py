"""Flaw: forgets that rowers 1 and 2 must be in different crews."""
n = int(input())
strength = list(map(int, input().split()))
total = sum(strength)
states: dict[tuple[int, int], tuple] = {(1, strength[0]): (1, ())}
for rower in range(2, n + 1):
    for (size, amount), members in list(states.items()):
        if size < n // 2:
            states.setdefault((size + 1, amount + strength[rower - 1]), (rower, members))
best = min((key for key in states if key[0] == n // 2), key=lambda key: abs(total - 2 * key[1]))
crew = []
members = states[best]
while members:
    crew.append(members[0])
    members = members[1]
print(abs(total - 2 * best[1]))
print(*sorted(crew))
