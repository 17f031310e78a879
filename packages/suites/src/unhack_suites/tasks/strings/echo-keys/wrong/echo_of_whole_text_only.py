"""Flaw: only doubles the whole text; an echo of a shorter end is never used."""


def fewest_presses(target: str) -> int:
    best = [0]
    for end in range(1, len(target) + 1):
        cost = best[end - 1] + 1
        half = end // 2
        if end % 2 == 0 and target[:half] == target[half:end]:
            cost = min(cost, best[half] + 2)
        best.append(cost)
    return best[-1]
