def to_roman(number):
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    names = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    text = ""
    for value, name in zip(values, names):
        text += name * (number // value)
        number %= value
    return text[:40]
