def by_length(words):
    groups = {}
    for word in words:
        groups.setdefault(len(word), []).append(word)
    return [[length, group] for length, group in groups.items()]
