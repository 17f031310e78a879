def balance(start, rate, years):
    amount = float(start)
    for _ in range(years):
        amount *= 1 + rate / 100
    return amount
