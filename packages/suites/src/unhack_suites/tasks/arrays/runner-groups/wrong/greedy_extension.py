"""Flaw: greedy; a runner joins the group if that is no dearer than opening a new one."""


def split_groups(times: list[int], fee: int) -> list[int]:
    sizes: list[int] = []
    low = high = 0
    for time in times:
        if sizes:
            new_low, new_high = min(low, time), max(high, time)
            if (new_high - new_low) ** 2 <= (high - low) ** 2 + fee:
                sizes[-1] += 1
                low, high = new_low, new_high
                continue
        sizes.append(1)
        low = high = time
    return sizes
