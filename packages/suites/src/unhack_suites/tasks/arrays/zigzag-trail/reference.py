"""Quadratic DP: the longest zigzag that ends at each place with a step up or down."""


def longest_zigzag(altitudes: list[int], gap: int) -> int:
    ends_up: list[int] = []
    ends_down: list[int] = []
    for i, here in enumerate(altitudes):
        up = down = 1
        for j in range(i):
            if here - altitudes[j] >= gap:
                up = max(up, ends_down[j] + 1)
            elif altitudes[j] - here >= gap:
                down = max(down, ends_up[j] + 1)
        ends_up.append(up)
        ends_down.append(down)
    return max(ends_up + ends_down, default=0)
