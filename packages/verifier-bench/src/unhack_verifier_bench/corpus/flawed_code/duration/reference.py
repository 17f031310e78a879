import re


def seconds(text):
    total = 0
    for number, letter in re.findall(r"(\d+)([hms])", text):
        total += int(number) * {"h": 3600, "m": 60, "s": 1}[letter]
    return total
