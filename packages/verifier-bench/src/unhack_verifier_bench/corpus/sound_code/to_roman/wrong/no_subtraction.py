def to_roman(number):
    if number < 1 or number > 3999:
        return ""
    text = ""
    for value, name in zip([1000, 500, 100, 50, 10, 5, 1], "MDCLXVI"):
        text += name * (number // value)
        number %= value
    return text
