"""DP over suffixes with (cost, groups), then a walk from the front that takes the smallest size."""


def split_groups(times: list[int], fee: int) -> list[int]:
    size = len(times)
    best: list[tuple[int, int]] = [(0, 0)] * (size + 1)
    choice = [0] * (size + 1)
    for start in range(size - 1, -1, -1):
        low = high = times[start]
        options = []
        for end in range(start + 1, size + 1):
            low, high = min(low, times[end - 1]), max(high, times[end - 1])
            cost, groups = best[end]
            options.append((cost + fee + (high - low) ** 2, groups + 1, end - start))
        cost, groups, choice[start] = min(options)
        best[start] = (cost, groups)
    result = []
    position = 0
    while position < size:
        result.append(choice[position])
        position += choice[position]
    return result
