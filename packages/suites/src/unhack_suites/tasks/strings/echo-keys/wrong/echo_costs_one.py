"""Flaw: counts an echo as one press."""


def fewest_presses(target: str) -> int:
    best = [0]
    for end in range(1, len(target) + 1):
        options = [best[end - 1] + 1]
        for k in range(1, end // 2 + 1):
            if target[end - 2 * k : end - k] == target[end - k : end]:
                options.append(best[end - k] + 1)
        best.append(min(options))
    return best[-1]
