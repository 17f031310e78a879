"""Searches the graph whose nodes are legs and whose edges are allowed connections."""


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    if origin == target:
        return begin
    from_stop: dict[int, list[int]] = {}
    for number, leg in enumerate(legs):
        from_stop.setdefault(leg[1], []).append(number)
    todo = [number for number in from_stop.get(origin, []) if legs[number][3] >= begin]
    ridden = set(todo)
    while todo:
        tram, _, there, _, arrive = legs[todo.pop()]
        for number in from_stop.get(there, []):
            if number not in ridden:
                wait = 0 if legs[number][0] == tram else gap
                if legs[number][3] >= arrive + wait:
                    ridden.add(number)
                    todo.append(number)
    arrivals = [legs[number][4] for number in ridden if legs[number][2] == target]
    return min(arrivals, default=-1)
