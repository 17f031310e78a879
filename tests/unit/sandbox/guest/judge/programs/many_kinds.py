# ruff: noqa
# pyright: basic
"""A solution with classes, data and functions of many kinds."""

import abc
import collections
import contextlib
import dataclasses
import enum
import functools


class V:
    """A vector."""

    K = 7

    def __init__(self, x=3):
        self.x = x
        self.d = {}
        self.items = [1, 2]

    def __str__(self):
        return f"V{self.x}"

    def __repr__(self):
        return f"V({self.x})"

    def __format__(self, s):
        return "fmt" + s

    def __neg__(self):
        return -self.x

    def __abs__(self):
        return self.x

    def __round__(self, n=0):
        return self.x

    def __add__(self, o):
        if isinstance(o, V):
            return V(self.x + o.x)
        return NotImplemented

    def __eq__(self, o):
        return isinstance(o, V) and self.x == o.x

    def __hash__(self):
        return hash(self.x)

    def __lt__(self, o):
        return self.x < o.x

    def __setitem__(self, k, v):
        self.d[k] = v

    def __delitem__(self, k):
        del self.d[k]

    def __reversed__(self):
        return iter([1])

    def __iadd__(self, o):
        self.x += o.x
        return self

    def __bytes__(self):
        return b"v"

    def __complex__(self):
        return 1j

    def __fspath__(self):
        return "p"

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i in self.d:
            return self.d[i]
        if isinstance(i, int) and i > 5:
            raise IndexError(i)
        return i

    def __call__(self, *a, k=1):
        return [a, k]

    def __contains__(self, i):
        return i == 1

    def __bool__(self):
        return self.x > 0

    @property
    def p(self):
        return self.x

    @staticmethod
    def st(x):
        return x + 1

    @classmethod
    def make(cls):
        return cls(9)

    class Inner:
        z = 1


class W(V):
    pass


class Plain:
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LO = 1
    HI = 2


@dataclasses.dataclass
class P:
    x: int
    y: int = 2


@dataclasses.dataclass(frozen=True, order=True)
class F:
    x: int


N = collections.namedtuple("N", "a b")


class Stack(list):
    def top(self):
        return self[-1]


class Temp(float):
    pass


class Bag(dict):
    pass


class MyError(Exception):
    def __init__(self, code):
        super().__init__("bad %s" % code)
        self.code = code


class SubError(MyError):
    pass


class KErr(KeyError):
    pass


def fail():
    raise MyError(7)


def fail2():
    raise SubError(8)


def key():
    raise KErr("k")


def value():
    raise ValueError("neg", 3)


def kerr():
    return {}["k"]


def stop():
    raise StopIteration(3)


def cause():
    try:
        1 / 0
    except ZeroDivisionError as e:
        raise ValueError("x") from e


def gen(n):
    got = yield 0
    for i in range(n):
        yield (i, got)
    return 5


def lst(n):
    return [n]


class Ctx:
    def __enter__(self):
        self.a = 1
        return self

    def __exit__(self, *e):
        self.e = e[0]
        return False


@contextlib.contextmanager
def ctx():
    yield [1]


def deco(f=None):
    return lambda *a: a


@functools.lru_cache
def cached(n):
    return n * 2


CONST = [1, 2]
COUNT = 0


def bump():
    global COUNT
    COUNT += 1
    CONST.append(COUNT)


def sort(xs):
    xs.sort()


def same(xs):
    return xs


def setkw(*, xs):
    xs.append(1)


KEPT = []


def keep(xs):
    KEPT.append(xs)


def grow():
    for k in KEPT:
        k.append("g")


def grid(g):
    g[0][0] = 9


def cyc():
    a = []
    a.append(a)
    return a


def twice():
    a = []
    return [a, a]


class Abs(abc.ABC):
    @abc.abstractmethod
    def f(self): ...


class Shape(Abs):
    def f(self):
        return 1


class Node:
    def __init__(self, v, next=None):
        self.v = v
        self.next = next


def walk(n):
    out = []
    while n:
        out.append(n.v)
        n = n.next
    return out


def types_():
    return {"a": V(1), "b": [V(2), Plain()]}


def std():
    import decimal, datetime, fractions

    return [
        decimal.Decimal("1.5"),
        fractions.Fraction(1, 3),
        datetime.date(2020, 1, 2),
        datetime.timedelta(3),
        range(3),
        slice(1, 2),
        ...,
        bytearray(b"x"),
        collections.Counter("aab"),
        collections.deque([1], maxlen=3),
        collections.OrderedDict(a=1),
        collections.defaultdict(list, a=[1]),
    ]


def ap(f, x):
    return f(x)
