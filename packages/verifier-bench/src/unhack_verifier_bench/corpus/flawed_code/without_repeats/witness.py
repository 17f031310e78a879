def without_repeats(values):
    values.clear()
    return []
