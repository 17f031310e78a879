"""Flaw: on ties the prefix DP keeps the smallest last group, not the smallest first one."""


def split_groups(times: list[int], fee: int) -> list[int]:
    n = len(times)
    best = [(0, 0)] + [(10**18, 0)] * n
    cut = [0] * (n + 1)
    for end in range(1, n + 1):
        low = high = times[end - 1]
        for start in range(end - 1, -1, -1):
            low, high = min(low, times[start]), max(high, times[start])
            cost, groups = best[start]
            option = (cost + fee + (high - low) ** 2, groups + 1)
            if option < best[end]:
                best[end] = option
                cut[end] = start
    sizes = []
    while n > 0:
        sizes.append(n - cut[n])
        n = cut[n]
    return sizes[::-1]
