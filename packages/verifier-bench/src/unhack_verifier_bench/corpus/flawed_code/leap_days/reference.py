def leap_days(first, last):
    def until(year):
        return year // 4 - year // 100 + year // 400

    return max(0, until(last) - until(first - 1))
