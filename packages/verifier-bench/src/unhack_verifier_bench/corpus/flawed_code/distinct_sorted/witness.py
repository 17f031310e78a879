def distinct(values):
    return list(values)
