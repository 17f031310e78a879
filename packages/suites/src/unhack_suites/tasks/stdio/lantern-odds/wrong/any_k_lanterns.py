"""Flaw: finds the chance that at least k lanterns are lit anywhere, not next to each other."""
n, k = map(int, input().split())
p = list(map(float, input().split()))
lit = [1.0]
for chance in p:
    nxt = [0.0] * (len(lit) + 1)
    for number, weight in enumerate(lit):
        nxt[number] += weight * (1 - chance)
        nxt[number + 1] += weight * chance
    lit = nxt
print(sum(lit[k:]))
