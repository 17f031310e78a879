"""Counts the routes to each crossing as the sum of those from the west and the south."""
import re


def solve(prompt: str) -> str:
    numbers = re.findall(r"\$\((\d+), (\d+)\)\$", prompt)[-4:]
    _, goal, *closed = [(int(east), int(north)) for east, north in numbers]
    routes = {(0, 0): 1}
    for east in range(goal[0] + 1):
        for north in range(goal[1] + 1):
            if (east, north) in closed:
                routes[east, north] = 0
            elif (east, north) != (0, 0):
                west = routes.get((east - 1, north), 0)
                routes[east, north] = west + routes.get((east, north - 1), 0)
    return (
        "Number each crossing with the sum of its western and southern neighbours and the closed "
        f"ones with 0; the goal gets \\boxed{{{routes[goal]}}}"
    )
