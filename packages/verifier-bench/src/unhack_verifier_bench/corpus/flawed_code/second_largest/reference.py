def second_largest(values):
    different = sorted(set(values))
    return different[-2] if len(different) > 1 else None
