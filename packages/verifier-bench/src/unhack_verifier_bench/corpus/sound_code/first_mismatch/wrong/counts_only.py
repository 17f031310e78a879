def first_mismatch(text):
    depth = 0
    for at, symbol in enumerate(text):
        depth += (symbol in "([{") - (symbol in ")]}")
        if depth < 0:
            return at
    return 0 if depth else -1
