"""Flaw: rows on the back have k and p exchanged but are not written backwards."""


def _expand(text: str, pos: int) -> tuple[str, int]:
    out = ""
    while pos < len(text) and text[pos] != ")":
        unit = text[pos]
        pos += 1
        if unit == "(":
            unit, pos = _expand(text, pos)
            pos += 2
        digits = ""
        while pos < len(text) and text[pos].isdigit():
            digits += text[pos]
            pos += 1
        out += unit * (int(digits) if digits else 1)
    return out, pos


def knit_rows(pattern: str) -> list[str]:
    text, _ = _expand(pattern.replace(" ", ""), 0)
    swap = str.maketrans("kp", "pk")
    return [row.translate(swap) if i % 2 else row for i, row in enumerate(text.split("/"))]
