# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work with derived."""


class Name(str):
    def shout(self):
        return Name(self.upper() + "!")

    def __eq__(self, o):
        return str.__eq__(self.lower(), str(o).lower())

    __hash__ = str.__hash__


class Path(str):
    def __truediv__(self, o):
        return Path(self + "/" + o)


class Money(float):
    def __str__(self):
        return f"${float(self):.2f}"

    __repr__ = __str__


class Temp(float):
    unit = "C"

    def __new__(cls, v, unit="K"):
        self = super().__new__(cls, v)
        self.unit = unit
        return self


class Id(int):
    def __repr__(self):
        return f"Id({int(self)})"


class Mod7(int):
    def __add__(self, o):
        return Mod7((int(self) + int(o)) % 7)


class Raw(bytes):
    def hexed(self):
        return self.hex(" ")


class Z(complex):
    pass


class Mixin:
    def tag(self):
        return "tag"

    def __len__(self):
        return 42


class Tagged(Mixin, str):
    pass


class Tagged2(str, Mixin):
    pass


class Sub(Name):
    pass


class Err(Mixin, ValueError):
    pass


class Config(dict):
    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError:
            raise AttributeError(k)


class Stack(list):
    def push(self, x):
        self.append(x)


class Buf(bytearray):
    pass


class Counted(str):
    gone = 0

    def __del__(self):
        Counted.gone += 1
