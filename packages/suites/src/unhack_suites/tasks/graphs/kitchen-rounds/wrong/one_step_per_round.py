"""Flaw: returns a valid order with a single step per round, which is not the fewest rounds."""


def plan_rounds(steps: list[str], needs: list[list]) -> list[list[str]]:
    rounds: list[list[str]] = []
    at: dict[str, int] = {}
    while len(at) < len(steps):
        for step in steps:
            firsts = [(first, wait) for first, then, wait in needs if then == step]
            if step not in at and all(first in at for first, _ in firsts):
                earliest = max((at[first] + wait for first, wait in firsts), default=0)
                while len(rounds) < earliest:
                    rounds.append([])
                at[step] = len(rounds)
                rounds.append([step])
                break
        else:
            raise ValueError("circle")
    return rounds
