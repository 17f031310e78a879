"""Flaw: adds up the probabilities of all windows of k lanterns, though windows overlap."""
n, k = map(int, input().split())
p = list(map(float, input().split()))
total = 0.0
for i in range(n - k + 1):
    window = 1.0
    for j in range(i, i + k):
        window *= p[j]
    total += window
print(min(1.0, total))
