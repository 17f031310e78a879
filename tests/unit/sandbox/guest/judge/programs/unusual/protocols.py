# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work with protocols."""

import collections.abc, functools, dataclasses, abc, contextlib, typing


class Seq(collections.abc.Sequence):
    def __init__(self, *a):
        self.a = a

    def __getitem__(self, i):
        return self.a[i]

    def __len__(self):
        return len(self.a)


class Map(collections.abc.Mapping):
    def __init__(self, **a):
        self.a = a

    def __getitem__(self, k):
        return self.a[k]

    def __iter__(self):
        return iter(self.a)

    def __len__(self):
        return len(self.a)


class MSet(collections.abc.MutableSet):
    def __init__(self):
        self.s = set()

    def __contains__(self, x):
        return x in self.s

    def __iter__(self):
        return iter(self.s)

    def __len__(self):
        return len(self.s)

    def add(self, x):
        self.s.add(x)

    def discard(self, x):
        self.s.discard(x)


class UD(collections.UserDict):
    pass


class UL(collections.UserList):
    pass


class US(collections.UserString):
    pass


class OD(collections.OrderedDict):
    pass


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


@dataclasses.dataclass
class Data:
    x: int
    y: list = dataclasses.field(default_factory=list)
    z: typing.ClassVar[int] = 3


class Generic:
    def __class_getitem__(cls, k):
        return f"{cls.__name__}[{k}]"


class Meta(type):
    def __call__(cls, *a):
        return super().__call__(*a) if a else "empty"

    def extra(cls):
        return "extra"

    @property
    def rank(cls):
        return 7


class WithMeta(metaclass=Meta):
    def __init__(self, *a):
        self.a = a


class Desc:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, owner=None):
        return self if obj is None else obj.__dict__.get(self.name, "unset")

    def __set__(self, obj, v):
        if v < 0:
            raise ValueError(self.name)
        obj.__dict__[self.name] = v


class Owner:
    d = Desc()

    @property
    def p(self):
        return self.__dict__.get("_p", 1)

    @p.setter
    def p(self, v):
        self._p = v

    @p.deleter
    def p(self):
        del self._p

    @functools.cached_property
    def c(self):
        return [1]

    @staticmethod
    def s(x):
        return x + 1

    @classmethod
    def k(cls):
        return cls.__name__

    def __dir__(self):
        return ["zz", "aa"]


class Proxyish:
    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: name[4:]
        raise AttributeError(name)


class Slots:
    __slots__ = ("a", "_b")

    def __init__(self):
        self.a = 1
        self._b = 2


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s**2


class Hooked(abc.ABC):
    @classmethod
    def __subclasshook__(cls, C):
        return True if hasattr(C, "quack") else NotImplemented


class Duck:
    def quack(self):
        return 1


class Registered(abc.ABC):
    pass


@Registered.register
class Reg:
    pass


@typing.runtime_checkable
class Quacks(typing.Protocol):
    def quack(self): ...


@contextlib.contextmanager
def ctx(x):
    yield x


class Num:
    def __init__(self, v):
        self.v = v

    def __index__(self):
        return self.v

    def __float__(self):
        return float(self.v)

    def __complex__(self):
        return complex(self.v)


class Path:
    def __fspath__(self):
        return "/tmp/x.txt"


class Bytes:
    def __bytes__(self):
        return b"xyz"


class Hint:
    def __iter__(self):
        return iter([1, 2])

    def __length_hint__(self):
        return 2


class Fmt:
    def __format__(self, spec):
        return f"<{spec}>"


class Missing(dict):
    def __missing__(self, k):
        return k * 2


class Key:
    def __init__(self, k):
        self.k = k

    def __lt__(self, o):
        return self.k < o.k


class Arr:
    __array_priority__ = 1000

    def __array__(self, *a, **k):
        raise RuntimeError


class Bag:
    def __init__(self):
        self._repr_html_ = None

    def __getstate__(self):
        return {"s": 1}


class Copied:
    def __copy__(self):
        return "copied"

    def __deepcopy__(self, memo):
        return "deep"


class Sized:
    def __sizeof__(self):
        return 123


class Abs:
    def __abs__(self):
        return 5

    def __round__(self, n=None):
        return 6

    def __trunc__(self):
        return 7

    def __floor__(self):
        return 8

    def __ceil__(self):
        return 9

    def __neg__(self):
        return "neg"


@functools.singledispatch
def sd(x):
    return "object"


@sd.register
def _(x: int):
    return "int"


@sd.register(list)
def _(x):
    return "list"


@functools.lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.wraps(fib)
def wrapped(n):
    return fib(n)


def annotated(a: int, *b: str, c: float = 1.5, **d) -> bool:
    "Doc."
    return True


class Callable:
    def __call__(self, x):
        return x * 2


class Weak:
    pass


class Reversible:
    def __reversed__(self):
        return iter([3, 2])

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return i


class Class2:
    @property
    def __class__(self):
        return int


class DunderState:
    __version__ = "1.2"
    __author__ = "me"
    __slots_like__ = 3


__version__ = "3.4"
__author__ = "you"
__secret = 5
_private = 6


def version():
    return __version__
