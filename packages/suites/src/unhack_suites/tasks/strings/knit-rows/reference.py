"""Recursive descent over the characters, then cutting and turning the rows."""

SWAP = str.maketrans("kp", "pk")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text.replace(" ", "")
        self.pos = 0

    def count(self, default: int) -> int:
        start = self.pos
        while self.pos < len(self.text) and self.text[self.pos].isdigit():
            self.pos += 1
        return int(self.text[start : self.pos]) if self.pos > start else default

    def items(self) -> str:
        out = []
        while self.pos < len(self.text) and self.text[self.pos] != ")":
            char = self.text[self.pos]
            self.pos += 1
            if char == "(":
                inner = self.items()
                self.pos += 2
                out.append(inner * self.count(1))
            elif char == "/":
                out.append("/")
            else:
                out.append(char * self.count(1))
        return "".join(out)


def knit_rows(pattern: str) -> list[str]:
    rows = _Reader(pattern).items().split("/")
    return [row[::-1].translate(SWAP) if i % 2 else row for i, row in enumerate(rows)]
