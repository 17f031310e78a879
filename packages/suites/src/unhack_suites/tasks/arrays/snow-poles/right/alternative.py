"""Direct use of the definition: every pole is compared with all poles beside it."""


def one_sided_poles(tops: list[int]) -> list[int]:
    result = []
    for i, top in enumerate(tops):
        from_left = all(other < top for other in tops[:i])
        from_right = all(other < top for other in tops[i + 1 :])
        if from_left != from_right:
            result.append(i)
    return result
