def clamp_all(values, low, high):
    return [min(max(value, low), high) for value in values]
