"""Relaxes the distance of each step to the end until it settles; steps go as late as possible."""


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    from_end = {step: 0 for step in steps}
    for _ in range(len(steps) + 1):
        settled = True
        for first, then, wait in needs:
            if from_end[first] < from_end[then] + wait:
                from_end[first] = from_end[then] + wait
                settled = False
        if settled:
            break
    else:
        raise ValueError("no plan")
    if not steps:
        return []
    last = max(from_end.values())
    return [[s for s in steps if from_end[s] == last - number] for number in range(last + 1)]
