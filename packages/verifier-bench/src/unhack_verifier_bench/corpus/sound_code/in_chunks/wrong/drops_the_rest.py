def in_chunks(items, size):
    if size < 1:
        return []
    return [items[at : at + size] for at in range(0, len(items) - size + 1, size)]
