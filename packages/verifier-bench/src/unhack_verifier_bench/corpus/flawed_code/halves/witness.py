def halves(items):
    middle = (len(items) + 1) // 2
    return str([items[:middle], items[middle:]])
