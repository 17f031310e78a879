def rotate_list(items, by):
    if not items:
        return []
    cut = -by % len(items)
    return items[cut:] + items[:cut]
