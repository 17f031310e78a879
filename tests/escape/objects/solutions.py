# ruff: noqa: E501
"""Right solutions with classes, for `honest_classes`."""

ACCOUNT = """
class InsufficientFunds(Exception):
    def __init__(self, needed):
        super().__init__(f'need {needed} more')
        self.needed = needed
class Account:
    count = 0
    def __init__(self, owner, balance=0):
        self.owner, self._balance, self.history = owner, balance, []
        type(self).count += 1
    @property
    def balance(self): return self._balance
    def deposit(self, amount):
        if amount <= 0: raise ValueError('amount must be positive')
        self._balance += amount
        self.history.append(('deposit', amount))
        return self
    def withdraw(self, amount):
        if amount > self._balance: raise InsufficientFunds(amount - self._balance)
        self._balance -= amount
        self.history.append(('withdraw', amount))
    def __repr__(self): return f'Account({self.owner!r}, {self._balance})'
    @classmethod
    def joint(cls, *owners): return cls(' & '.join(owners))
    @staticmethod
    def is_valid(name): return name.isalpha()
class Savings(Account):
    rate = 0.5
    def grow(self): self._balance *= 1 + self.rate
"""
STACK = """
class Stack:
    def __init__(self, items=()): self.items = list(items)
    def push(self, item): self.items.append(item)
    def pop(self):
        if not self.items: raise IndexError('pop from empty stack')
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __iter__(self): return reversed(self.items)
    def __bool__(self): return bool(self.items)
    def __contains__(self, item): return item in self.items
    def __getitem__(self, place): return self.items[place]
    def __eq__(self, other): return isinstance(other, Stack) and self.items == other.items
"""
LINKED = """
class Node:
    def __init__(self, value, next=None): self.value, self.next = value, next
class LinkedList:
    def __init__(self, values=()):
        self.head = None
        for value in reversed(list(values)): self.head = Node(value, self.head)
    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.next
    def reverse(self):
        last = None
        node = self.head
        while node: node.next, last, node = last, node, node.next
        self.head = last
def merge(a, b):
    values = sorted([*a, *b])
    return LinkedList(values)
def length(node):
    count = 0
    while node: count, node = count + 1, node.next
    return count
"""
VECTOR = """
import math
class Vec:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
    def __sub__(self, o): return Vec(self.x - o.x, self.y - o.y)
    def __mul__(self, k): return Vec(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __neg__(self): return Vec(-self.x, -self.y)
    def __abs__(self): return math.hypot(self.x, self.y)
    def __eq__(self, o): return isinstance(o, Vec) and (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __iter__(self): yield from (self.x, self.y)
    def __str__(self): return f'<{self.x}, {self.y}>'
    def __format__(self, spec): return f'<{self.x:{spec}}, {self.y:{spec}}>'
    def __lt__(self, o): return abs(self) < abs(o)
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __bool__(self): return bool(self.x or self.y)
    def __matmul__(self, o): return self.x * o.x + self.y * o.y
"""
LRU = """
from collections import OrderedDict
class LRUCache:
    def __init__(self, capacity): self.capacity, self.data = capacity, OrderedDict()
    def get(self, key):
        if key not in self.data: return -1
        self.data.move_to_end(key)
        return self.data[key]
    def put(self, key, value):
        self.data[key] = value
        self.data.move_to_end(key)
        if len(self.data) > self.capacity: self.data.popitem(last=False)
"""
ENUMS = """
import enum
class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 4
    @property
    def hex(self): return {1: '#f00', 2: '#0f0', 4: '#00f'}[self.value]
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5
class Perm(enum.Flag):
    R = 1
    W = 2
def parse(name): return Color[name.upper()]
def mix(a, b): return Perm(a.value + b.value)
"""
DATA = """
from dataclasses import dataclass, field
from typing import NamedTuple
@dataclass(order=True, frozen=True)
class Version:
    major: int
    minor: int = 0
    @classmethod
    def parse(cls, text): return cls(*map(int, text.split('.')))
@dataclass
class Item:
    name: str
    tags: list = field(default_factory=list)
class Point(NamedTuple):
    x: int
    y: int
    def moved(self, dx): return self._replace(x=self.x + dx)
def bounds(points): return Point(min(p.x for p in points), max(p.y for p in points))
"""
ITERATE = """
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1
        return self.n + 1
def fib(limit):
    a, b = 0, 1
    while a < limit:
        yield a
        a, b = b, a + b
def averager():
    total = count = 0
    average = None
    while True:
        value = yield average
        total += value
        count += 1
        average = total / count
def chunks(xs, n): return [xs[i:i + n] for i in range(0, len(xs), n)]
def squares(xs): return map(lambda x: x * x, xs)
def flatten(xs):
    for x in xs:
        if isinstance(x, list): yield from flatten(x)
        else: yield x
"""
CONTEXT = """
import contextlib
class Timer:
    def __enter__(self):
        self.events = ['start']
        return self
    def __exit__(self, kind, value, traceback):
        self.events.append('stop' if kind is None else kind.__name__)
        return False
@contextlib.contextmanager
def tag(name, out):
    out.append(f'<{name}>')
    try: yield name.upper()
    finally: out.append(f'</{name}>')
class Ignore:
    def __init__(self, *kinds): self.kinds = kinds
    def __enter__(self): return self
    def __exit__(self, kind, value, traceback): return kind is not None and issubclass(kind, self.kinds)
"""
EVENTS = """
import functools
class Bus:
    def __init__(self): self.handlers, self.log = {}, []
    def on(self, name, handler): self.handlers.setdefault(name, []).append(handler)
    def emit(self, name, *args):
        self.log.append(name)
        return [handler(*args) for handler in self.handlers.get(name, [])]
def double(x): return 2 * x
def compose(*functions):
    def composed(x):
        for function in functions: x = function(x)
        return x
    return composed
def counter():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step
def memo(f):
    @functools.wraps(f)
    def inner(*args):
        inner.calls += 1
        return f(*args)
    inner.calls = 0
    return inner
@memo
def slow(x): return x + 1
"""
SHAPES = """
import abc, math
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    def __lt__(self, other): return self.area() < other.area()
class Square(Shape):
    def __init__(self, side): self.side = side
    def area(self): return self.side ** 2
class Circle(Shape):
    def __init__(self, r): self.r = r
    def area(self): return math.pi * self.r ** 2
def largest(shapes): return max(shapes, key=lambda s: s.area())
"""
TEMPERATURE = """
class Temperature:
    def __init__(self, celsius): self.celsius = celsius
    @property
    def fahrenheit(self): return self.celsius * 9 / 5 + 32
    @fahrenheit.setter
    def fahrenheit(self, value): self.celsius = (value - 32) * 5 / 9
    def __float__(self): return float(self.celsius)
    def __int__(self): return int(self.celsius)
    def __round__(self, n=0): return round(self.celsius, n)
"""
MATRIX = """
class Matrix:
    def __init__(self, rows): self.rows = [list(row) for row in rows]
    def __getitem__(self, key):
        i, j = key
        return self.rows[i][j]
    def __setitem__(self, key, value):
        i, j = key
        self.rows[i][j] = value
    def __matmul__(self, o): return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __eq__(self, o): return isinstance(o, Matrix) and self.rows == o.rows
    @property
    def T(self): return Matrix(zip(*self.rows))
    def __call__(self, x): return [sum(a * b for a, b in zip(r, x)) for r in self.rows]
def rotate(grid): grid[:] = [list(row) for row in zip(*grid[::-1])]
"""
PARSER = """
class ParseError(ValueError):
    def __init__(self, message, place):
        super().__init__(message)
        self.place = place
class Tokens:
    def __init__(self, text): self.items, self.i = text.split(), 0
    def peek(self): return self.items[self.i] if self.i < len(self.items) else None
    def take(self):
        token = self.peek()
        self.i += 1
        return token
def evaluate(text):
    stack = []
    for place, token in enumerate(text.split()):
        if token in '+-*':
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if token == '+' else a - b if token == '-' else a * b)
        elif token.lstrip('-').isdigit(): stack.append(int(token))
        else: raise ParseError(f'bad token {token}', place)
    return stack[-1]
"""
IO = """
import sys, warnings
COUNT = 0
def greet(name): print(f'Hello, {name}!')
def ask():
    name = input('Name? ')
    return name.strip().title()
def lines(): return [line.rstrip() for line in sys.stdin]
def old():
    warnings.warn('use new()', DeprecationWarning)
    return 1
def mode():
    import os
    return os.environ.get('APP_MODE', 'none')
def bump():
    global COUNT
    COUNT += 1
    return COUNT
def complain(): print('bad', file=sys.stderr)
"""
BUILTINS = """
from collections import Counter, defaultdict, deque
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
class SortedList(list):
    def add(self, x):
        self.append(x)
        self.sort()
class Money(float):
    def __str__(self): return f'${self:.2f}'
class Names(dict):
    def first(self): return min(self)
def letters(text): return Counter(text)
def groups(words):
    found = defaultdict(list)
    for word in words: found[word[0]].append(word)
    return found
def window(xs, n): return deque(xs, maxlen=n)
def tomorrow(day): return day + timedelta(days=1)
def price(text): return Decimal(text) * 2
def half(n): return Fraction(n, 2)
def dedupe(xs): return set(xs)
"""
KEPT = """
class Queue:
    def __init__(self, items): self.items = items
    def put(self, x): self.items.append(x)
    def view(self): return self.items
class Graph:
    def __init__(self): self.edges = {}
    def add(self, a, b): self.edges.setdefault(a, set()).add(b)
    def neighbours(self, a): return self.edges.get(a, set())
def sort_in_place(xs, *, reverse=False): xs.sort(reverse=reverse)
def fill(grid): grid[0][0] = 1
def same(x): return x
REGISTRY = []
def register(x):
    REGISTRY.append(x)
    return len(REGISTRY)
"""
