def balance(start, rate, years):
    return float(start) * (1 + rate * years / 100)
