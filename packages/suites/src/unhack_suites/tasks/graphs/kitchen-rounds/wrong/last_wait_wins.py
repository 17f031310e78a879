"""Flaw: stores one wait per pair of steps, so a later smaller wait replaces a larger one."""


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    before: dict[str, dict[str, int]] = {step: {} for step in steps}
    for first, then, wait in needs:
        before[then][first] = wait
    at: dict[str, int] = {}

    def place(step: str, trail: tuple[str, ...]) -> int:
        if step in trail:
            raise ValueError("circle")
        if step not in at:
            trail = (*trail, step)
            at[step] = max((place(f, trail) + w for f, w in before[step].items()), default=0)
        return at[step]

    for step in steps:
        place(step, ())
    if not steps:
        return []
    return [[s for s in steps if at[s] == n] for n in range(max(at.values()) + 1)]
