"""Flaw: fixes a step's round at its first discovery, not after its slowest prerequisite."""

from collections import deque


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    waiting = dict.fromkeys(steps, 0)
    for _, then, _ in needs:
        waiting[then] += 1
    at = {step: 0 for step in steps if waiting[step] == 0}
    queue = deque(at)
    done = 0
    while queue:
        step = queue.popleft()
        done += 1
        for first, then, wait in needs:
            if first == step:
                at.setdefault(then, at[step] + wait)
                waiting[then] -= 1
                if waiting[then] == 0:
                    queue.append(then)
    if done < len(steps):
        raise ValueError("circle")
    if not steps:
        return []
    return [[s for s in steps if at[s] == n] for n in range(max(at.values()) + 1)]
