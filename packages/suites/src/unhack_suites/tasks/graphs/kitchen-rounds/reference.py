"""Topological order with a queue; every step goes into its earliest possible round."""

from collections import deque


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    later: dict[str, list[tuple[str, int]]] = {step: [] for step in steps}
    waiting = dict.fromkeys(steps, 0)
    for first, then, wait in needs:
        later[first].append((then, wait))
        waiting[then] += 1
    earliest = dict.fromkeys(steps, 0)
    queue = deque(step for step in steps if waiting[step] == 0)
    done = 0
    while queue:
        step = queue.popleft()
        done += 1
        for then, wait in later[step]:
            earliest[then] = max(earliest[then], earliest[step] + wait)
            waiting[then] -= 1
            if waiting[then] == 0:
                queue.append(then)
    if done < len(steps):
        raise ValueError("the steps need one another in a circle")
    rounds: list[list[str]] = [[] for _ in range(max(earliest.values(), default=-1) + 1)]
    for step in steps:
        rounds[earliest[step]].append(step)
    return rounds
