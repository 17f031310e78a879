def by_length(words):
    return [[n, sorted({w for w in words if len(w) == n})] for n in {len(w) for w in words}]
