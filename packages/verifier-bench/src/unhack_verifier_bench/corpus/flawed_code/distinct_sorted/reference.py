def distinct(values):
    return sorted(set(values), reverse=True)
