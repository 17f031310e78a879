"""DP over prefixes that carries the whole division, so that plain tuple comparison breaks ties."""


def split_groups(times: list[int], fee: int) -> list[int]:
    divisions: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    for end in range(1, len(times) + 1):
        best = None
        for start in range(end):
            group = times[start:end]
            spread = max(group) - min(group)
            cost, count, sizes = divisions[start]
            option = (cost + fee + spread * spread, count + 1, (*sizes, end - start))
            if best is None or option < best:
                best = option
        assert best is not None
        divisions.append(best)
    return list(divisions[-1][2])
