"""Flaw: returns the poles seen from at least one end."""


def one_sided_poles(tops: list[int]) -> list[int]:
    result = []
    for i, top in enumerate(tops):
        if all(other < top for other in tops[:i]) or all(other < top for other in tops[i + 1 :]):
            result.append(i)
    return result
