def halves(items):
    middle = (len(items) + 1) // 2
    return [items[:middle], items[middle:]]
