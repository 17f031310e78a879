"""Flaw: puts dependent steps into consecutive rounds whatever the wait is."""


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    left = set(steps)
    rounds = []
    while left:
        blocked = {then for first, then, _ in needs if first in left}
        ready = [step for step in steps if step in left and step not in blocked]
        if not ready:
            raise ValueError("circle")
        rounds.append(ready)
        left.difference_update(ready)
    return rounds
