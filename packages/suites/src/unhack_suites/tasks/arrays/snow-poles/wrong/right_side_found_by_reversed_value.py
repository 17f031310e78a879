"""Flaw: maps poles of the reversed row back with `index`, which finds the first equal top."""


def one_sided_poles(tops: list[int]) -> list[int]:
    def seen(row: list[int]) -> list[int]:
        visible: list[int] = []
        for top in row:
            if not visible or top > visible[-1]:
                visible.append(top)
        return visible

    left = {tops.index(top) for top in seen(tops)}
    right = {tops.index(top) for top in seen(tops[::-1])}
    return sorted(left ^ right)
