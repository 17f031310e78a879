"""Flaw: among divisions of equal cost the number of groups is not looked at."""


def split_groups(times: list[int], fee: int) -> list[int]:
    n = len(times)
    best = [(0, ())] + [(10**18, ())] * n
    for end in range(1, n + 1):
        for start in range(end):
            part = times[start:end]
            cost = best[start][0] + fee + (max(part) - min(part)) ** 2
            option = (cost, best[start][1] + (end - start,))
            if option < best[end]:
                best[end] = option
    return list(best[n][1])
