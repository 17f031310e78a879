"""Flaw: uses `>=`, so a pole behind an equally high one is seen."""


def one_sided_poles(tops: list[int]) -> list[int]:
    result = []
    for i, top in enumerate(tops):
        from_left = i == 0 or top >= max(tops[:i])
        from_right = i == len(tops) - 1 or top >= max(tops[i + 1 :])
        if from_left != from_right:
            result.append(i)
    return result
