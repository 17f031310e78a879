"""Flaw: replaces the single probabilities by their mean."""
n, k = map(int, input().split())
p = list(map(float, input().split()))
mean = sum(p) / n
run = [1.0] + [0.0] * (k - 1)
seen = 0.0
for _ in range(n):
    seen += run[k - 1] * mean
    run = [sum(run) * (1 - mean)] + [weight * mean for weight in run[:-1]]
print(seen)
