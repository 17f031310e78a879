"""Flaw: never raises ValueError; steps in a circle are silently left out."""


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    left = {step: 0 for step in steps}
    for _, then, _ in needs:
        left[then] += 1
    at = {step: 0 for step in steps if left[step] == 0}
    todo = list(at)
    for step in todo:
        for first, then, wait in needs:
            if first == step:
                at[then] = max(at.get(then, 0), at[step] + wait)
                left[then] -= 1
                if left[then] == 0:
                    todo.append(then)
    if not todo:
        return []
    return [[s for s in todo if at[s] == n] for n in range(max(at[s] for s in todo) + 1)]
