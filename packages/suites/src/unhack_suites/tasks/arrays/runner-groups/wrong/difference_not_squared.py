"""Flaw: uses the plain difference of the times instead of its square."""


def split_groups(times: list[int], fee: int) -> list[int]:
    n = len(times)
    best: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    for end in range(1, n + 1):
        options = []
        for start in range(end):
            part = times[start:end]
            cost, groups, sizes = best[start]
            spread = max(part) - min(part)
            options.append((cost + fee + spread, groups + 1, sizes + (end - start,)))
        best.append(min(options))
    return list(best[n][2])
