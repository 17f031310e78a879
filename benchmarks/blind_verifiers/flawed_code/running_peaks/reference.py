def peaks(values):
    found = []
    for value in values:
        found.append(value if not found else max(found[-1], value))
    return found
