"""Accepts any plan that is valid and has the smallest number of stalls on day A."""


def check(stdin: str, output: str, expected: str) -> bool:
    words = output.split()
    best = expected.split()
    if best == ["impossible"] or words == ["impossible"]:
        return words == best
    if len(words) != 2 or words[0] != best[0]:
        return False
    data = [int(word) for word in stdin.split()]
    count, pairs = data[0], data[1]
    plan = words[1]
    if len(plan) != count or set(plan) - {"A", "B"} or str(plan.count("A")) != best[0]:
        return False
    ends = zip(data[2 : 2 + 2 * pairs : 2], data[3 : 3 + 2 * pairs : 2])
    return all(plan[a - 1] != plan[b - 1] for a, b in ends)
