def parities(values):
    return [value % 2 for value in values]
