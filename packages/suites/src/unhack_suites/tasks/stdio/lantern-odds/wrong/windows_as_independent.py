"""Flaw: multiplies the chances that each window fails, as if windows were independent."""
n, k = map(int, input().split())
p = list(map(float, input().split()))
none = 1.0
for i in range(n - k + 1):
    window = 1.0
    for j in range(i, i + k):
        window *= p[j]
    none *= 1.0 - window
print(1.0 - none)
