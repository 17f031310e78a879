"""Flaw: takes the first and last time of a group for its extremes, as if the queue were sorted."""


def split_groups(times: list[int], fee: int) -> list[int]:
    n = len(times)
    best: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    for end in range(1, n + 1):
        options = []
        for start in range(end):
            cost, groups, sizes = best[start]
            spread = times[end - 1] - times[start]
            options.append((cost + fee + spread**2, groups + 1, sizes + (end - start,)))
        best.append(min(options))
    return list(best[n][2])
