"""Random goals and pairs of closed crossings, in either order, some of them out of the way."""
import random

Crossing = tuple[int, int]


def row(goal: Crossing, p: Crossing, q: Crossing, name: str = "Pia") -> dict[str, str]:
    """One problem: p and q are closed; both differ from each other, from (0, 0) and the goal."""
    prompt = (
        f"Streets form a square grid. {name} walks from crossing $(0, 0)$ to crossing "
        f"$({goal[0]}, {goal[1]})$; each step leads one block east, from $(x, y)$ to $(x+1, y)$, "
        "or one block north, from $(x, y)$ to $(x, y+1)$. The crossings "
        f"$({p[0]}, {p[1]})$ and $({q[0]}, {q[1]})$ are closed and must not be entered. How many "
        r"different routes are there? Put the final answer in \boxed{}."
    )
    # one row of the grid at a time
    counts = [1] + [0] * goal[0]
    for north in range(goal[1] + 1):
        for east in range(goal[0] + 1):
            if (east, north) in (p, q):
                counts[east] = 0
            elif east:
                counts[east] += counts[east - 1]
    return {"prompt": prompt, "answer": str(counts[goal[0]])}


def generate(rng: random.Random) -> dict[str, str]:
    goal = (rng.randint(1, 10), rng.randint(1, 10))
    reach = rng.choice([0, 0, 0, 2])
    spots = [
        (east, north)
        for east in range(goal[0] + reach + 1)
        for north in range(goal[1] + reach + 1)
        if (east, north) not in ((0, 0), goal)
    ]
    p, q = rng.sample(spots, 2)
    return row(goal, p, q, rng.choice(["Pia", "Rui", "Sami", "Tove", "Uma"]))
