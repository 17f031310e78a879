"""Walks along the marks until one comes up again, then skips whole rounds of the cycle."""
import re


def solve(prompt: str) -> str:
    text = prompt[prompt.rindex("A dial has") :]
    marks, _, _, start, factor, _, midnights = map(int, re.findall(r"\d+", text))
    path = [start % marks]
    first_visit = {path[0]: 0}
    while True:
        following = factor * path[-1] % marks
        if following in first_visit:
            break
        first_visit[following] = len(path)
        path.append(following)
    lead = first_visit[following]
    cycle = len(path) - lead
    place = midnights if midnights < lead else lead + (midnights - lead) % cycle
    return (
        f"The marks run {path[:8]} ...; after {lead} steps they repeat every {cycle} steps. "
        f"The answer is $\\boxed{{{path[place]}}}$."
    )
