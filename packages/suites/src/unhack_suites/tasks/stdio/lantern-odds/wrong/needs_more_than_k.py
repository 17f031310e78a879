"""Flaw: asks for a run longer than k instead of at least k."""
n, k = map(int, input().split())
p = list(map(float, input().split()))
run = [1.0] + [0.0] * (k + 1)
for chance in p:
    nxt = [0.0] * (k + 2)
    nxt[0] = sum(run[: k + 1]) * (1 - chance)
    for length in range(k + 1):
        nxt[length + 1] += run[length] * chance
    nxt[k + 1] += run[k + 1]
    run = nxt
print(run[k + 1])
