# ruff: noqa: E501, RUF005, SIM905
"""Solutions and probes that go through Python's data model, for `test_object_protocol.py`."""

VALUES = {
    "__len__": "2",
    "__length_hint__": "2",
    "__bool__": "False",
    "__str__": "'text'",
    "__repr__": "'shown'",
    "__format__": "'formatted'",
    "__bytes__": "b'b'",
    "__hash__": "11",
    "__int__": "5",
    "__index__": "1",
    "__float__": "2.5",
    "__complex__": "1j",
    "__fspath__": "'/path'",
    "__iter__": "iter([1, 2])",
    "__reversed__": "iter([2, 1])",
    "__contains__": "True",
    "__enter__": "'entered'",
    "__exit__": "False",
    "__dir__": "['a', 'b']",
}
"""Special methods whose result has a fixed type; the others return `self.marked(name)`."""
UNARY = [
    "__neg__",
    "__pos__",
    "__invert__",
    "__abs__",
    "__round__",
    "__trunc__",
    "__floor__",
    "__ceil__",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "matmul",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
]
COMPARE = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
OTHERS = ["__call__", "__getitem__", "__setitem__", "__delitem__", "__next__"]
ALL = [
    *VALUES,
    *UNARY,
    *(f"__{sign}{name}__" for name in BINARY for sign in ("", "r", "i") if (sign, name) != ("i", "divmod")),
    *COMPARE,
    *OTHERS,
]  # fmt: skip

OPERATIONS = """
str(a)|repr(a)|format(a)|format(a, 'x')|f'{a}'|f'{a!r}'|'%s' % a|bytes(a)|hash(a) == hash(a)|int(a)|float(a)
complex(a)|__import__('operator').index(a)|bool(a)|not a|len(a)|__import__('operator').length_hint(a, 7)
__import__('os').fspath(a)|list(a)|tuple(a)|[*a]|sorted(a)|sum(a)|max(a)|list(reversed(a))|iter(a) is a|next(a)|next(a, 4)
list(zip(a, [1]))|list(enumerate(a))|list(map(str, a))|dict(a)|set(a)|a()|a(1, 2)|a(x=1)|a[0]|a['k']|a[1:2]|a[1, 2]
-a|+a|~a|abs(a)|round(a)|round(a, 1)|__import__('math').trunc(a)|__import__('math').floor(a)|__import__('math').ceil(a)
a + b|a - b|a * b|a / b|a // b|a % b|divmod(a, b)|a ** b|pow(a, b)|a @ b|a << b|a >> b|a & b|a | b|a ^ b
a + 1|1 + a|a - 1|1 - a|a * 2|2 * a|a / 2|a // 2|a % 2|divmod(a, 2)|divmod(2, a)|a ** 2|2 ** a|a << 1|a & 1|1 | a
a == b|a != b|a < b|a <= b|a > b|a >= b|a == a|a != a|a == None|a != None|None == a|a == 1|a != 1|1 == a|a < 1|1 > a
a is a|a is b|a in [a]|a in [b]|b in a|1 in a|'x' in a|a in (1, 2)|a in {1: 2}|[a] == [a]|[a] == [b]|(a, 1) < (b, 1)
{a: 1}[a]|{a, b} == {b, a}|len({a, b})|callable(a)|hasattr(a, '__len__')|hasattr(a, '__iter__')|hasattr(a, '__call__')
hasattr(a, '__eq__')|hasattr(a, 'nothing')|getattr(a, 'nothing', 3)|a.nothing|a.marked('x')|type(a).__name__|type(a) is type(b)
type(a) is solution.Subject|isinstance(a, solution.Subject)|isinstance(a, (int, str))|isinstance(a, int)|isinstance(a, object)
isinstance(a, float)|issubclass(solution.Subject, int)|issubclass(solution.Subject, object)|solution.Subject.__name__
a.__class__.__name__|a.__doc__|a.__module__|[f for f in dir(a) if f == 'marked']|vars(a)|a.__dict__|any([a])|all([a])
range(a)|[0, 1, 2, 3][a]|'abc' * a|'-'.join([a])|''.join(a)|print(a)|min(a, b) is a|sum([a, b])|abs(a) == 1|chr(a)
"""
STATEMENTS = """
a[0] = 1; out = a[0]|del a[0]|a.new = [1]; out = a.new|a.new = 1; del a.new; out = hasattr(a, 'new')|out = a; out += b; out = out is a
out = a; out += 1|out = a; out *= 2|with a as out: pass|with a: raise KeyError('k')|x, y = a; out = y|for out in a: pass
it = iter(a); out = next(it), list(it)|async def f(): await a|def f(x, *y): return y;out = f(*a)|del a; out = 1|assert a|out = 1 if a else 2
raise a|out = {**a}|out = lambda: a; out = out() is a|import copy; out = type(copy.copy(a)) is type(a)|import copy; out = type(copy.deepcopy(a)) is type(a)
import operator; out = operator.eq(a, b)|import operator; out = operator.add(a, b)|import functools; out = functools.reduce(lambda x, y: x, [a, b]) is a
"""


def _subject(
    bases: str, methods: dict[str, str], new: str = "solution.Subject()"
) -> tuple[str, str]:
    body = [f"class Subject({bases}):", "    'A subject.'", "    kept = 3"]
    body += ["    def marked(self, name): return f'{name} called'"]
    for name, result in methods.items():
        body += [f"    def {name}(self, *args): {result}"]
    return "\n".join(body) + "\n", new


def _returned(name: str) -> str:
    return f"return {VALUES[name]}" if name in VALUES else f"return self.marked({name!r})"


SUBJECTS = {
    "bare": _subject("object", {}),
    "full": _subject("object", {name: _returned(name) for name in ALL if name != "__next__"}),
    "iterator": _subject("object", {"__iter__": "return self", "__next__": "raise StopIteration"}),
    "raising": _subject("object", {name: "raise ValueError('no')" for name in ALL if name != "__repr__"}),
    "wrong": _subject("object", dict.fromkeys(VALUES, "return [1]")),
    "negative": _subject("object", {"__len__": "return -1", "__bool__": "return 1", "__hash__": "return 2.5"}),
    "declining": _subject("object", {f"__{name}__": "return NotImplemented" for name in BINARY + ["eq", "lt"]}),
    "unhashable": _subject("object", {"__eq__": "return self is args[0]"}),
    "indexed": _subject("object", {"__getitem__": "return [4, 5][args[0]]", "__len__": "return 2"}),
    "falsy": _subject("object", {"__len__": "return 0"}),
    "int": _subject("int", {}, "solution.Subject(2)"),
    "float": _subject("float", {}, "solution.Subject(2.5)"),
    "str": _subject("str", {}, "solution.Subject('ab')"),
    "bytes": _subject("bytes", {}, "solution.Subject(b'ab')"),
    "list": _subject("list", {}, "solution.Subject([3, 1])"),
    "tuple": _subject("tuple", {}, "solution.Subject((3, 1))"),
    "dict": _subject("dict", {}, "solution.Subject(k=3)"),
    "set": _subject("set", {}, "solution.Subject([3, 1])"),
    "list with its own length": _subject("list", {"__len__": "return 9"}, "solution.Subject([3, 1])"),
    "int with its own sum": _subject("int", {"__add__": "return 40"}, "solution.Subject(2)"),
    "exception": _subject("ValueError", {}, "solution.Subject('text', 3)"),
    "enum": ("import enum\nclass Subject(enum.Enum):\n    A = 1\n    B = 2\n    def marked(self, name): return name\n", "solution.Subject.A"),
    "int enum": ("import enum\nclass Subject(enum.IntEnum):\n    A = 1\n    B = 2\n    def marked(self, name): return name\n", "solution.Subject.A"),
    "flag": ("import enum\nclass Subject(enum.Flag):\n    A = 1\n    B = 2\n    def marked(self, name): return name\n", "solution.Subject.A"),
    "dataclass": ("import dataclasses\n@dataclasses.dataclass(order=True, frozen=True)\nclass Subject:\n    x: int = 3\n    def marked(self, name): return name\n", "solution.Subject()"),
    "named tuple": ("import collections\nclass Subject(collections.namedtuple('Base', 'x y')):\n    def marked(self, name): return name\n", "solution.Subject(3, 1)"),
    "slots": ("class Subject:\n    __slots__ = ('x', 'new')\n    def marked(self, name): return name\n", "solution.Subject()"),
    "abstract": ("import abc\nclass Subject(abc.ABC):\n    @abc.abstractmethod\n    def marked(self, name): ...\nclass Concrete(Subject):\n    def marked(self, name): return name\n", "solution.Concrete()"),
    "generic": ("from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Subject(Generic[T]):\n    def marked(self, name): return name\n", "solution.Subject()"),
    "attributes on demand": ("class Subject:\n    def __getattr__(self, name): return name.upper()\n", "solution.Subject()"),
    "function": ("def Subject(*args, **kwargs): return len(args)\n", "solution.Subject"),
    "generator": ("def Subject():\n    yield 1\n    yield 2\n", "solution.Subject()"),
    "class": ("class Subject:\n    pass\n", "solution.Subject"),
    "deque": ("from collections import deque\nclass Subject(deque):\n    def marked(self, name): return name\n", "solution.Subject([1, 2])"),
    "match": ("import re\ndef Subject(): return re.match('(a)(b)', 'ab')\n", "solution.Subject()"),
    "dict view": ("D = {1: 2, 3: 4}\ndef Subject(): return D.keys()\n", "solution.Subject()"),
    "partial": ("import functools\nSubject = functools.partial(int, base=2)\n", "solution.Subject"),
}  # fmt: skip
"""Kind of class -> its source and an expression that makes an object."""

CALLS = """
math.isclose(a, 9)|math.sqrt(a)|math.floor(a)|math.trunc(a)|math.gcd(a, 3)|math.fsum([a])|math.isnan(a)|math.hypot(a)|operator.index(a)|int(a)|float(a)
complex(a)|round(a)|bytes(a)|bytearray(a)|str(a)|repr(a)|format(a)|hash(a) is not None|chr(a)|bin(a)|hex(a)|range(a)|[0] * 10 if a else 0
list(range(20))[a]|'x' * a|divmod(a, 2)|pow(a, 2)|abs(a)|sum([a])|'%d' % a|'%s' % (a,)|'%f' % a|'%x' % a|'%c' % a|struct.pack('i', a)
struct.pack('d', a)|struct.pack('4s', a)|struct.unpack('b', a)|array.array('i', [a])|memoryview(a).tobytes()|binascii.hexlify(a)|base64.b64encode(a)
zlib.crc32(a)|hashlib.md5(a).hexdigest()|io.BytesIO(a).read()|io.StringIO(a).read()|int.from_bytes(a, 'big')|os.fspath(a)|os.path.join('x', a)
os.fsencode(a)|pathlib.PurePosixPath(a)|''.join([a])|','.join(a)|b''.join([a])|re.match('.', a) is not None|re.sub('9', 'x', a)|'a9'.find(a)
'a9'.startswith(a)|'a9'.replace(a, 'x')|'a9'.split(a)|'a9' + a|a + '9'|a in 'a9'|'9' in a|ord(a)|eval(a)|int(a, 10)|ast.literal_eval(a)
textwrap.indent(a, ' ')|string.capwords(a)|unicodedata.name(a)|json.dumps(a)|json.dumps([a])|json.loads(a)|sorted(a)|sorted([a, a])[0] == a|min(a)
max([a, a]) == a|list(a)|tuple(a)|set(a)|dict(a)|dict(x=1, **a)|[*a]|len(a)|list(reversed(a))|list(enumerate(a))|list(zip(a, a))|list(map(str, a))
next(iter(a))|any(a)|all(a)|operator.length_hint(a)|operator.itemgetter(0)(a)|a[0]|a['a']|a.get('a')|a.copy() == a|list(itertools.chain(a))
functools.reduce(lambda x, y: y, a)|collections.Counter(a)|collections.deque(a)|collections.ChainMap(a)['a']|heapq.nlargest(1, a)|bisect.bisect(a, 9)
statistics.mean(a)|random.Random(1).choice(a)|copy.copy(a) == a|copy.deepcopy(a) == a|decimal.Decimal(a)|fractions.Fraction(a)|datetime.timedelta(a)
time.gmtime(a).tm_year|{a: 1}[a]|{9: 1}.get(a)|{'9': 1}.get(a)|a == 9|a == '9'|a == [9]|a == a|9 == a|[9] == a|bool(a)|callable(a)|slice(a).indices(3)
type(a).__name__|type(a) is int|iter(a) is not None|setattr(types.SimpleNamespace(), a, 1)|getattr(types.SimpleNamespace(x=1), a, 3)|print(a)
print('x', end=a)|open(a)|os.path.exists(a)|sum(a)|(lambda *x: x)(*a)|(lambda **x: x)(**a)
"""
"""C code of builtins and of the standard library that is handed an object."""
DERIVED = {
    "int": ("Subject(int)", "9"),
    "float": ("Subject(float)", "9.0"),
    "complex": ("Subject(complex)", "9"),
    "str": ("Subject(str)", "'9'"),
    "bytes": ("Subject(bytes)", "b'9'"),
    "tuple": ("Subject(tuple)", "(9,)"),
    "frozenset": ("Subject(frozenset)", "{9}"),
    "list": ("Subject(list)", "[9]"),
    "dict": ("Subject(dict)", "{'a': 9}"),
    "set": ("Subject(set)", "{9}"),
}
ONE = VALUES | {"__getitem__": "[7, 8][args[0]]", "__call__": "11", "__next__": "12", "__missing__": "13", "keys": "['k']",
                "__round__": "8", "__floor__": "9", "__ceil__": "10", "__trunc__": "5"}  # fmt: skip
CONVERTED = {
    **{f"derived from {kind}": (f"class {head}: pass\n", f"solution.Subject({of})") for kind, (head, of) in DERIVED.items()},
    **{f"only {name}": _subject("object", {name: f"return {of}"}) for name, of in ONE.items()},
}  # fmt: skip
"""Kind of class -> its source and an expression that makes an object, for `CALLS`."""
SOUGHT = """
_repr_html_ _repr_svg_ _repr_png_ _repr_latex_ _repr_markdown_ _repr_json_ _repr_pretty_ _repr_mimebundle_ _ipython_display_ _spec_id _mock_rate _mock_name _pytest_ratio pytest_plugins_count __unittest_level__ _is_coroutine place_as pytestmark __test__ __notes__ __array_priority__ __path__ __spec__ __file__ __package__ __loader__ __cached__ __objclass__ __isabstractmethod__ __tracebackhide__ load_tests setUpModule tearDownModule __dataframe__ __typing_subst__
""".split()
"""Names that tools look for in the objects of others, and beginnings of such names."""
_BODY = [name for name in SOUGHT if name != "__isabstractmethod__"]
NAMED = {
    "methods": "class Subject:\n" + "".join(f"    def {name}(self): return {name!r}\n" for name in _BODY),
    "values of a class": "class Subject:\n" + "".join(f"    {name} = {place}\n" for place, name in enumerate(_BODY)),
    "attributes": "class Subject:\n    def __init__(self):\n" + "".join(f"        self.{name} = {place}\n" for place, name in enumerate(SOUGHT)),
    "attributes of an exception": "class Subject(ValueError):\n    def __init__(self):\n" + "".join(f"        self.{name} = {place}\n" for place, name in enumerate(SOUGHT)),
    "nothing": "class Subject: pass\n",
    "names of a module": "class Subject: pass\n" + "".join(f"{name} = {place}\n" for place, name in enumerate(SOUGHT) if name[:2] != "__"),
}  # fmt: skip
"""Where a solution has the names -> its source."""
LOOKS = """
solution.Subject().{0}|getattr(solution.Subject(), {0!r}, None)|hasattr(solution.Subject(), {0!r})|solution.Subject.{0}
hasattr(solution.Subject, {0!r})|operator.attrgetter({0!r})(solution.Subject())|solution.Subject().{0}()
"""
MODULE_LOOKS = "solution.{0}|getattr(solution, {0!r}, None)|hasattr(solution, {0!r})|operator.attrgetter({0!r})(solution)"
USED = (
    *("ast", "array", "base64", "binascii", "bisect", "collections", "copy", "datetime", "decimal"),
    *("fractions", "functools", "hashlib", "heapq", "io", "itertools", "json", "math", "operator"),
    *("os", "pathlib", "random", "re", "statistics", "string", "struct", "textwrap", "time"),
    *("types", "unicodedata", "zlib"),
)
"""Modules that the probes below use."""


def calls(new: str) -> list[str]:
    """Every call of C code with a fresh object."""
    head = f"import solution, {', '.join(USED)}\na = {new}\nout = "
    return [head + item for row in CALLS.strip().splitlines() for item in row.split("|")]


def looks(place: str) -> list[str]:
    """Every way to look for each name, in a solution of `NAMED`."""
    rows = MODULE_LOOKS if place == "names of a module" else LOOKS
    names = [name for name in SOUGHT if place != "names of a module" or name[:2] != "__"]
    ways = [item for row in rows.strip().splitlines() for item in row.split("|")]
    return [
        f"import solution, operator\nout = {way.format(name)}" for name in names for way in ways
    ]


def probes(new: str) -> list[str]:
    """Every operation on a fresh `a`, with `b` another object of the class."""
    head = f"import solution\na = {new}\nb = {new}\n"
    lines = [f"out = {item}" for row in OPERATIONS.strip().splitlines() for item in row.split("|")]
    steps = [item for row in STATEMENTS.strip().splitlines() for item in row.split("|")]
    return [head + line for line in lines + steps]
