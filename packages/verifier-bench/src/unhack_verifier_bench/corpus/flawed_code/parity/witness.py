def parities(values):
    return [value % 2 == 1 for value in values]
