"""Flaw: groups are expanded in one pass, so a group around a group is left as it is."""

import re


def knit_rows(pattern: str) -> list[str]:
    text = pattern.replace(" ", "")
    text = re.sub(r"([kpsy])(\d+)", lambda m: m.group(1) * int(m.group(2)), text)
    text = re.sub(r"\(([^()]*)\)x(\d+)", lambda m: m.group(1) * int(m.group(2)), text)
    swap = str.maketrans("kp", "pk")
    result = []
    for number, row in enumerate(text.split("/"), start=1):
        result.append(row if number % 2 else row[::-1].translate(swap))
    return result
