"""Dynamic programming over prefix lengths, trying every echo that ends at the prefix."""


def fewest_presses(target: str) -> int:
    best = [0]
    for end in range(1, len(target) + 1):
        cost = best[end - 1] + 1
        for k in range(1, end // 2 + 1):
            middle = end - k
            if target[middle - k : middle] == target[middle:end]:
                cost = min(cost, best[middle] + 2)
        best.append(cost)
    return best[-1]
