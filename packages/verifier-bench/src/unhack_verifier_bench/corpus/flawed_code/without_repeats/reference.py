def without_repeats(values):
    return sorted(set(values))
