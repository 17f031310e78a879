def widest_gap(values):
    ordered = sorted(values)
    return max((b - a for a, b in zip(ordered, ordered[1:])), default=0)
