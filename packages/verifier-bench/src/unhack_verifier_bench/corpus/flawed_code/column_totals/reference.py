def column_totals(rows):
    totals = {}
    for row in rows:
        for name, value in row.items():
            totals[name] = totals.get(name, 0) + value
    return totals
