"""From the largest size down, leaving a rest that the smaller sizes can still balance."""


def pan_weights(load: int, base: int) -> list[int]:
    half = (base - 1) // 2
    sizes = [1]
    reach = half
    while abs(load) > reach:
        sizes.append(sizes[-1] * base)
        reach += half * sizes[-1]
    result = []
    for size in reversed(sizes):
        reach -= half * size
        digit = 0
        while load > reach:
            load -= size
            digit += 1
        while load < -reach:
            load += size
            digit -= 1
        result.append(digit)
    return result
