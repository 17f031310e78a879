# fmt: off
# ruff: noqa
# pyright: basic, reportGeneralTypeIssues=false
"""Right work in many styles."""

import functools, contextlib, enum, dataclasses, collections, typing, operator, weakref, types, itertools, abc, decimal, fractions, datetime, pathlib, uuid, array, re, asyncio, logging, warnings
class Meta(type):
    def __iter__(cls): return iter([1, 2])
    def __len__(cls): return 2
    def __getitem__(cls, k): return k
    def __contains__(cls, k): return k == 3
    def __getattr__(cls, n):
        if n.startswith('dyn_'): return n[4:]
        raise AttributeError(n)
    def __add__(cls, o): return 'sum'
    def __or__(cls, o): return 'or'
    def __lt__(cls, o): return True
    def __eq__(cls, o): return True if o is cls else NotImplemented
    def __hash__(cls): return 5
    def __str__(cls): return 'meta-str'
    def __repr__(cls): return 'meta-repr'
    def __bool__(cls): return False
    def __instancecheck__(cls, x): return hasattr(x, 'flag')
class M(metaclass=Meta): pass
class Flagged: flag = 1
class V:
    kinds = []
    def __init_subclass__(cls, tag=None): V.kinds.append((cls.__name__, tag))
    def __init__(self, x=1): self.x = x
    def m(self, y=2): return self.x + y
    @classmethod
    def c(cls): return cls
    @staticmethod
    def s(): return 4
    pm = functools.partialmethod(m, 10)
    @functools.cached_property
    def cp(self): return [self.x]
    @property
    def p(self): 'pdoc'; return self.x
    def __add__(self, o): return V(self.x + o.x)
    def __eq__(self, o): return isinstance(o, V) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __repr__(self): return f'V({self.x})'
    def __len__(self): return self.x
    def __getitem__(self, i): return i
    def __call__(self, *a, **k): return a, k
    def __enter__(self): return self
    def __exit__(self, *a): return False
    def __reversed__(self): return iter('ba')
    def __iter__(self): yield self.x
    def gen(self):
        got = yield 1
        yield got
        return 5
    async def co(self): return 6
    async def agen(self): yield 1
class W(V, tag='t'): pass
class Sig:
    def __init__(self, a, b: int = 3, *, c='x'): pass
def lam(): return lambda x, y=2: x * y
def gen(n):
    try:
        for i in range(n): yield i
    finally: LOG.append('closed')
LOG = []
def deco(f):
    @functools.wraps(f)
    def inner(*a): inner.calls += 1; return f(*a)
    inner.calls = 0
    return inner
@deco
def counted(x): return x
part = functools.partial(pow, 2)
@functools.lru_cache(maxsize=2)
def cached(x): return [x]
@contextlib.contextmanager
def cm():
    LOG.append('in')
    try: yield 3
    except KeyError: LOG.append('swallowed')
    finally: LOG.append('out')
@dataclasses.dataclass(frozen=True, order=True)
class D:
    x: int
    y: str = 'a'
@dataclasses.dataclass(slots=True)
class DS:
    x: int = 1
class TD(typing.TypedDict):
    a: int
NT = typing.NewType('NT', int)
Alias = list[int]
Pt = collections.namedtuple('Pt', 'x y', defaults=[0])
class DateX(datetime.date):
    def week(self): return self.isocalendar()[1]
class Dec(decimal.Decimal): pass
class Fr(fractions.Fraction): pass
class TDelta(datetime.timedelta): pass
class Cnt(collections.Counter): pass
class DD(collections.defaultdict): pass
class Dq(collections.deque): pass
def today(): return DateX(2020, 1, 1)
def path(): return pathlib.PurePosixPath('/a/b.txt')
def uid(): return uuid.UUID(int=5)
def arr(): return array.array('i', [1, 2])
def mv(): return memoryview(b'ab')
def pat(): return re.compile('a+')
def mat(): return re.search('(?P<n>a+)', 'baab')
def gens(): return (i * i for i in range(3))
def zipd(): return zip([1], [2])
def rng(): return range(3)
def sl(): return slice(1, 2)
def mp(): return map(str, [1])
def rev(): return reversed([1, 2])
def dk(): return {1: 2}.keys()
def ns(): return types.SimpleNamespace(a=1)
def mapp(): return types.MappingProxyType({'a': 1})
def od(): return collections.OrderedDict(a=1)
def it(): return itertools.count(3)
def tz(): return datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
def strm(): import io; return io.StringIO('x\ny')
def bio(): import io; return io.BytesIO(b'ab')
def nul(): return None
def ell(): return ...
def noti(): return NotImplemented
def nan(): return float('nan')
def typ(): return int
def typg(): return list[int]
def typu(): return int | None
def exc(): return ValueError('x')
def excT(): return ValueError
def mod(): import math; return math
def meth(): return 'a'.upper
def bm(): return V(3).m
def big(): return 10 ** 5000
def surro(): return '\ud800'
def nested(): a = []; a.append(a); return a
def same(x): return x
def mut(xs): xs.append(1); return xs
def ident(a, b): return a is b
def warn(): warnings.warn('w', DeprecationWarning); return 1
def log(): logging.getLogger('z').warning('hey'); return 1
class Desc:
    def __get__(self, o, t=None): return 'got'
    def __set__(self, o, v): o.__dict__['d'] = v
    def __delete__(self, o): o.__dict__['deleted'] = 1
class HasD: d = Desc()
class Attr:
    def __getattr__(self, n): return 'ga-' + n
    def __setattr__(self, n, v): object.__setattr__(self, n, v * 2)
    def __delattr__(self, n): object.__setattr__(self, 'gone', n)
class GetAttribute:
    def __getattribute__(self, n): return 'gab-' + n
class NoHash: __hash__ = None
class NoIter:
    __iter__ = None
    def __getitem__(self, i): return i
class NoBool:
    def __bool__(self): raise ValueError('nb')
class BadLen:
    def __len__(self): return -1
class OnlyLt:
    def __init__(self, v): self.v = v
    def __lt__(self, o): return self.v < o.v
@functools.total_ordering
class Tot:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
class Bits(enum.Flag):
    A = 1
    B = 2
class Auto(enum.Enum):
    X = enum.auto()
    Y = enum.auto()
    def __eq__(self, o): return self is o
    __hash__ = enum.Enum.__hash__
class Slot:
    __slots__ = {'a': 'doc of a'}
class Ctx(contextlib.ContextDecorator):
    def __enter__(self): LOG.append('e'); return self
    def __exit__(self, *a): LOG.append('x')
@Ctx()
def decorated(): return 1
class Aw:
    def __await__(self): yield; return 3
class Iter:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
class GI:
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return i
class Rich:
    def __rich_repr__(self): yield 'x'
    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'x'}
    def __json__(self): return '{}'
    def __html__(self): return '<b>'
    def __geo_interface__(self): return {}
    def __tree__(self): return []
    def _asdict(self): return {'a': 1}
    def to_dict(self): return {'a': 1}
    def __copy__(self): r = Rich(); r.c = 1; return r
    def __deepcopy__(self, memo): r = Rich(); r.d = 1; return r
    def __getstate__(self): return {'s': 1}
    def __getnewargs__(self): return (1,)
    def __sizeof__(self): return 9
    def __subclasshook__(self): return 1
    def __class_getitem__(cls, k): return 'cg'
    def __prepare__(cls): return 1
    def __mro_entries__(self, b): return ()
    def __fspath__(self): return 'p'
