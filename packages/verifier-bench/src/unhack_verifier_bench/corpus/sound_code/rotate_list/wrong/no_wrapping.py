def rotate_list(items, by):
    return items[-by:] + items[:-by]
