# ruff: noqa: E501
"""Honest solutions with classes, and the suites that people write for them.

Each has a right solution, a wrong twin that differs in one place, and the body of a test.
"""

from dataclasses import dataclass

from objects.solutions import (
    ACCOUNT,
    BUILTINS,
    CONTEXT,
    DATA,
    ENUMS,
    EVENTS,
    IO,
    ITERATE,
    KEPT,
    LINKED,
    LRU,
    MATRIX,
    PARSER,
    SHAPES,
    STACK,
    TEMPERATURE,
    VECTOR,
)


@dataclass(frozen=True)
class HonestCase:
    """One suite with its right and its wrong solution."""

    tests: str
    right: str
    wrong: str
    objects: tuple[str, ...] = ()


def case(
    source: str, body: str, wrong: tuple[str, str], objects: tuple[str, ...] = ()
) -> HonestCase:
    """A suite of one test; `wrong` is the text to replace for the wrong twin."""
    assert source.count(wrong[0]) >= 1, wrong
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    tests = f"import pytest\nimport solution\nfrom solution import *\n\ndef test_it(capsys, monkeypatch):\n{lines}\n"
    return HonestCase(tests, source, source.replace(*wrong), objects)


SUITES = {
    "account_balance": case(ACCOUNT, "a = Account('Ann')\na.deposit(5)\nassert a.balance == 5\nassert a.owner == 'Ann'", ("+= amount", "+= 0")),
    "account_chained": case(ACCOUNT, "assert Account('A').deposit(1).deposit(2).balance == 3", ("+= amount", "= amount")),
    "account_errors": case(ACCOUNT, "with pytest.raises(ValueError, match='positive'):\n    Account('A').deposit(-1)\nwith pytest.raises(InsufficientFunds) as e:\n    Account('A', 1).withdraw(5)\nassert e.value.needed == 4\nassert str(e.value) == 'need 4 more'", ("amount - self._balance)", "amount)")),
    "account_error_class": case(ACCOUNT, "assert issubclass(InsufficientFunds, Exception)\nassert not issubclass(InsufficientFunds, ValueError)", ("Funds(Exception)", "Funds(ValueError)")),
    "account_history": case(ACCOUNT, "a = Account('A', 9)\na.deposit(1)\na.withdraw(2)\nassert a.history == [('deposit', 1), ('withdraw', 2)]", ("('withdraw', amount)", "('deposit', amount)")),
    "account_property_is_read_only": case(ACCOUNT, "a = Account('A')\nwith pytest.raises(AttributeError):\n    a.balance = 5", ("    @property\n    def balance(self): return self._balance\n", "    balance = 0\n")),
    "account_text": case(ACCOUNT, "assert repr(Account('A', 3)) == \"Account('A', 3)\"\nassert f'{Account(\"B\")}' == \"Account('B', 0)\"", ("{self.owner!r}", "{self.owner}")),
    "account_class_members": case(ACCOUNT, "assert Account.joint('A', 'B').owner == 'A & B'\nassert Account.is_valid('x') is True\nn = Account.count\nAccount('x')\nassert Account.count == n + 1", ("count += 1", "count += 2")),
    "account_subclass": case(ACCOUNT, "s = Savings('A', 10)\ns.grow()\nassert s.balance == 15\nassert isinstance(s, Account) and issubclass(Savings, Account)\nassert type(s).__name__ == 'Savings'", ("rate = 0.5", "rate = 0.25")),
    "account_has": case(ACCOUNT, "a = Account('A')\nassert hasattr(a, 'withdraw') and not hasattr(a, 'close')\nassert callable(a.deposit)", ("def withdraw", "def take")),
    "stack_order": case(STACK, "s = Stack()\nfor i in range(3): s.push(i)\nassert [s.pop(), s.pop()] == [2, 1]\nassert len(s) == 1", ("self.items.pop()", "self.items.pop(0)")),
    "stack_truth": case(STACK, "assert not Stack()\nassert Stack([1])\nassert list(Stack([1, 2])) == [2, 1]", ("reversed(self.items)", "iter(self.items)")),
    "stack_empty": case(STACK, "with pytest.raises(IndexError):\n    Stack().pop()", ("raise IndexError", "raise KeyError")),
    "stack_index": case(STACK, "s = Stack([4, 5, 6])\nassert s[-1] == 6 and s[0:2] == [4, 5]", ("self.items[place]", "self.items[0]")),
    "stack_items": case(STACK, "s = Stack()\ns.push(1)\nassert s.items == [1]\ns.items.append(2)\nassert s.pop() == 2", ("list(items)", "[7]")),
    "stack_member_declared": case(STACK, "assert 2 in Stack([1, 2])\nassert 3 not in Stack([1, 2])", ("return item in self.items", "return item == 3"), ("Stack",)),
    "stack_equal": case(STACK, "assert Stack([1]) == Stack([1])\nassert Stack([1]) != Stack([2])\nassert Stack() is not None and Stack() != None", ("self.items == other.items", "True")),
    "linked_values": case(LINKED, "l = LinkedList([1, 2, 3])\nassert list(l) == [1, 2, 3]\nl.reverse()\nassert list(l) == [3, 2, 1]", ("self.head = last", "pass")),
    "linked_nodes": case(LINKED, "n = Node(1, Node(2, Node(3)))\nassert n.next.next.value == 3 and n.next.next.next is None\nassert length(n) == 3", ("count + 1", "count + 2")),
    "linked_merge": case(LINKED, "assert list(merge(LinkedList([1, 5]), LinkedList([2]))) == [1, 2, 5]", ("sorted([*a, *b])", "[*a, *b]")),
    "linked_set": case(LINKED, "a, b = Node(1), Node(2)\na.next = b\nassert a.next is b and length(a) == 2\nb.next = a\nassert a.next.next is a", ("self.value, self.next = value, next", "self.value, self.next = next, value")),
    "vector_sums": case(VECTOR, "v = Vec(1, 2) + Vec(3, 4)\nassert (v.x, v.y) == (4, 6)\nassert v - Vec(4, 6) == Vec(0, 0)", ("self.y + o.y", "self.y")),
    "vector_unary": case(VECTOR, "assert abs(Vec(3, 4)) == 5.0\nassert (-Vec(1, 2)).y == -2\nassert not Vec(0, 0)", ("-self.y", "self.y")),
    "vector_scaled_declared": case(VECTOR, "assert Vec(1, 2) * 3 == Vec(3, 6)\nassert 3 * Vec(1, 2) == Vec(3, 6)", ("self.y * k", "self.y"), ("Vec",)),
    "vector_hash": case(VECTOR, "assert len({Vec(1, 2), Vec(1, 2), Vec(2, 1)}) == 2\nassert {Vec(1, 2): 'a'}[Vec(1, 2)] == 'a'", ("hash((self.x, self.y))", "id(self)")),
    "vector_unpacked": case(VECTOR, "x, y = Vec(5, 6)\nassert (x, y) == (5, 6)\nassert Vec(5, 6)[1] == 6\nassert tuple(Vec(1, 2)) == (1, 2)", ("yield from (self.x, self.y)", "yield from (self.y, self.x)")),
    "vector_text": case(VECTOR, "assert str(Vec(1, 2)) == '<1, 2>'\nassert f'{Vec(1.5, 2):.2f}' == '<1.50, 2.00>'", ("{self.y:{spec}}", "{self.x:{spec}}")),
    "vector_sorted": case(VECTOR, "assert [v.x for v in sorted([Vec(3, 0), Vec(1, 0), Vec(2, 0)])] == [1, 2, 3]\nassert max([Vec(1, 1), Vec(5, 5)]).x == 5", ("abs(self) < abs(o)", "abs(self) > abs(o)")),
    "vector_product": case(VECTOR, "assert Vec(1, 2) @ Vec(3, 4) == 11", ("self.y * o.y", "self.y")),
    "lru_evicts": case(LRU, "c = LRUCache(2)\nc.put(1, 1)\nc.put(2, 2)\nassert c.get(1) == 1\nc.put(3, 3)\nassert c.get(2) == -1 and c.get(1) == 1", ("        self.data.move_to_end(key)\n        return", "        return")),
    "lru_inside": case(LRU, "c = LRUCache(2)\nc.put('a', 1)\nassert len(c.data) == 1 and list(c.data) == ['a'] and c.capacity == 2", ("capacity, OrderedDict()", "9, OrderedDict()")),
    "enum_members": case(ENUMS, "assert Color.RED.value == 1 and Color.RED.name == 'RED'\nassert Color['GREEN'] is Color.GREEN and Color(4) is Color.BLUE\nassert [c.name for c in Color] == ['RED', 'GREEN', 'BLUE'] and len(Color) == 3", ("BLUE = 4", "BLUE = 3")),
    "enum_functions": case(ENUMS, "assert parse('red') is Color.RED\nassert parse('blue') == Color.BLUE != Color.RED\nassert Color.GREEN.hex == '#0f0'\nwith pytest.raises(KeyError):\n    parse('pink')", ("name.upper()", "'RED'")),
    "enum_unknown": case(ENUMS, "with pytest.raises(ValueError):\n    Color(3)\nassert isinstance(Color.RED, Color)\nassert {Color.RED: 1}[Color.RED] == 1", ("BLUE = 4", "BLUE = 3")),
    "enum_integers": case(ENUMS, "assert Level.HIGH == 5 and Level.HIGH > Level.LOW and Level.LOW + 1 == 2\nassert sorted(Level, reverse=True)[0] is Level.HIGH", ("HIGH = 5", "HIGH = 4")),
    "enum_flags": case(ENUMS, "assert mix(Perm.R, Perm.W) == Perm.R | Perm.W\nassert Perm.R in mix(Perm.R, Perm.W)", ("a.value + b.value", "b.value")),
    "data_order": case(DATA, "assert Version(1, 2) < Version(1, 10)\nassert Version.parse('3.4') == Version(3, 4)\nassert max(Version(1), Version(2)).major == 2", ("map(int,", "map(str,")),
    "data_text": case(DATA, "assert repr(Version(1)) == 'Version(major=1, minor=0)'\nassert len({Version(1), Version(1)}) == 1", ("minor: int = 0", "minor: int = 1")),
    "data_frozen": case(DATA, "with pytest.raises(AttributeError):\n    Version(1).major = 2", ("frozen=True", "frozen=False")),
    "data_defaults": case(DATA, "a, b = Item('a'), Item('b')\na.tags.append('x')\nassert a.tags == ['x'] and b.tags == []\nassert Item('a', ['x']) == a", ("default_factory=list", "default_factory=lambda L=[]: L")),
    "data_tuples": case(DATA, "p = Point(1, 2)\nassert p == (1, 2) and p.x == 1 and p[1] == 2 and len(p) == 2\nx, y = p.moved(3)\nassert (x, y) == (4, 2)", ("self.x + dx", "dx")),
    "data_points": case(DATA, "assert bounds([Point(1, 5), Point(0, 9)]) == Point(0, 9)\nassert bounds([Point(1, 5)])._asdict() == {'x': 1, 'y': 5}", ("max(p.y", "min(p.y")),
    "iterate_countdown": case(ITERATE, "assert list(Countdown(3)) == [3, 2, 1]\nc = Countdown(1)\nassert next(c) == 1\nwith pytest.raises(StopIteration):\n    next(c)\nassert next(c, 'end') == 'end'", ("self.n + 1", "self.n")),
    "iterate_generator": case(ITERATE, "assert list(fib(10)) == [0, 1, 1, 2, 3, 5, 8]\ng = fib(5)\nassert iter(g) is g and next(g) == 0\nassert sum(fib(10)) == 20", ("a, b = 0, 1", "a, b = 1, 1")),
    "iterate_send": case(ITERATE, "g = averager()\nnext(g)\nassert g.send(10) == 10 and g.send(20) == 15\ng.close()\nwith pytest.raises(StopIteration):\n    next(g)", ("total / count", "total")),
    "iterate_map": case(ITERATE, "assert list(squares([1, 2, 3])) == [1, 4, 9]\nassert dict(zip('ab', squares([2, 3]))) == {'a': 4, 'b': 9}", ("x * x", "x + x")),
    "iterate_flatten": case(ITERATE, "assert list(flatten([1, [2, [3]]])) == [1, 2, 3]\nassert chunks([1, 2, 3], 2) == [[1, 2], [3]]", ("yield from flatten(x)", "yield x")),
    "context_events": case(CONTEXT, "with Timer() as t:\n    assert t.events == ['start']\nassert t.events == ['start', 'stop']", ("'stop'", "'end'")),
    "context_error": case(CONTEXT, "t = Timer()\nwith pytest.raises(KeyError):\n    with t:\n        raise KeyError('k')\nassert t.events[-1] == 'KeyError'", ("kind.__name__", "'error'")),
    "context_function": case(CONTEXT, "out = []\nwith tag('b', out) as name:\n    assert name == 'B' and out == ['<b>']\nassert out == ['<b>', '</b>']", ("finally: out.append(f'</{name}>')", "finally: out.append(name)")),
    "context_ignore_declared": case(CONTEXT, "with Ignore(ValueError):\n    raise ValueError('x')\nwith pytest.raises(KeyError):\n    with Ignore(ValueError):\n        raise KeyError('x')", ("issubclass(kind, self.kinds)", "not issubclass(kind, self.kinds)"), ("Ignore",)),
    "events_emitted": case(EVENTS, "b = Bus()\nb.on('x', double)\nassert b.emit('x', 4) == [8]\nassert b.emit('y') == [] and b.log == ['x', 'y']", ("2 * x", "3 * x")),
    "events_composed": case(EVENTS, "f = compose(double, str)\nassert f(4) == '8'\nassert compose()(3) == 3", ("x = function(x)", "x = function(function(x))")),
    "events_closures": case(EVENTS, "a, b = counter(), counter()\nassert [a(), a(), b()] == [1, 2, 1]", ("        nonlocal count\n        count += 1\n        return count", "        return 1")),
    "events_decorated": case(EVENTS, "assert slow(1) == 2\nassert slow(1) == 2\nassert slow.calls == 2 and slow.__name__ == 'slow'", ("inner.calls += 1", "pass")),
    "shapes_abstract": case(SHAPES, "with pytest.raises(TypeError):\n    Shape()\nassert isinstance(Square(1), Shape)\nassert Square(3).area() == 9", ("    @abc.abstractmethod\n", "")),
    "shapes_compared": case(SHAPES, "s, c = Square(2), Circle(2)\nassert largest([s, c]) is c\nassert s < c\nassert Circle(1).area() == pytest.approx(3.14159, abs=1e-4)", ("math.pi *", "3 *")),
    "temperature_property": case(TEMPERATURE, "t = Temperature(100)\nassert t.fahrenheit == 212\nt.fahrenheit = 212\nassert t.celsius == 100", ("(value - 32) * 5 / 9", "value - 32")),
    "temperature_numbers": case(TEMPERATURE, "t = Temperature(21.57)\nassert float(t) == 21.57 and int(t) == 21 and round(t, 1) == 21.6", ("int(self.celsius)", "22")),
    "matrix_items": case(MATRIX, "m = Matrix([[1, 2], [3, 4]])\nm[0, 1] = 9\nassert m[0, 1] == 9 and m.rows == [[1, 9], [3, 4]]\nassert m.T == Matrix([[1, 3], [9, 4]])", ("self.rows[i][j] = value", "pass")),
    "matrix_products": case(MATRIX, "assert Matrix([[1, 2], [3, 4]]) @ Matrix([[1, 0], [0, 1]]) == Matrix([[1, 2], [3, 4]])\nassert Matrix([[1, 2]])([3, 4]) == [11]", ("zip(r, x)", "zip(x, x)")),
    "matrix_rotated": case(MATRIX, "g = [[1, 2], [3, 4]]\nassert rotate(g) is None\nassert g == [[3, 1], [4, 2]]", ("grid[::-1]", "grid")),
    "parser_values": case(PARSER, "assert evaluate('3 4 + 2 *') == 14\nt = Tokens('a b')\nassert [t.take(), t.peek(), t.take(), t.peek()] == ['a', 'b', 'b', None]", ("a + b if", "a - b if")),
    "parser_errors": case(PARSER, "with pytest.raises(ParseError, match='bad token') as e:\n    evaluate('3 x')\nassert e.value.place == 1 and isinstance(e.value, ValueError)", ("ParseError(f'bad token {token}', place)", "ParseError(f'bad token {token}', 0)")),
    "io_printed": case(IO, "greet('Bo')\nassert capsys.readouterr().out == 'Hello, Bo!\\n'\ncomplain()\nassert capsys.readouterr().err == 'bad\\n'", ("Hello", "Hallo")),
    "io_asked": case(IO, "import io\nmonkeypatch.setattr('sys.stdin', io.StringIO('ann lee\\n'))\nassert ask() == 'Ann Lee'", (".title()", "")),
    "io_lines": case(IO, "import io\nmonkeypatch.setattr('sys.stdin', io.StringIO('a\\nb\\n'))\nassert lines() == ['a', 'b']", ("rstrip", "upper")),
    "io_warned": case(IO, "with pytest.warns(DeprecationWarning, match='new'):\n    assert old() == 1", ("DeprecationWarning)", "UserWarning)")),
    "io_environment": case(IO, "monkeypatch.setenv('APP_MODE', 'fast')\nassert mode() == 'fast'\nmonkeypatch.delenv('APP_MODE')\nassert mode() == 'none'", ("'none'", "'slow'")),
    "io_globals": case(IO, "n = solution.COUNT\nbump()\nassert solution.COUNT == n + 1\nmonkeypatch.setattr(solution, 'COUNT', 40)\nassert bump() == 41", ("COUNT += 1", "COUNT += 2")),
    "builtin_list": case(BUILTINS, "s = SortedList([3])\ns.add(1)\nassert s == [1, 3] and s[0] == 1 and len(s) == 2 and list(s) == [1, 3]\nassert isinstance(s, SortedList)", ("self.sort()", "pass")),
    "builtin_float": case(BUILTINS, "m = Money(2.5)\nassert str(m) == '$2.50' and m + 1 == 3.5 and m > 2", (":.2f", ":.1f")),
    "builtin_dict": case(BUILTINS, "n = Names(b=1, a=2)\nassert n.first() == 'a' and n['b'] == 1 and n == {'a': 2, 'b': 1}\nassert sorted(n.items()) == [('a', 2), ('b', 1)]", ("min(self)", "max(self)")),
    "builtin_counters": case(BUILTINS, "c = letters('abca')\nassert c['a'] == 2 and c['z'] == 0 and c.most_common(1) == [('a', 2)]\nassert groups(['ab', 'c', 'ad'])['a'] == ['ab', 'ad']", ("Counter(text)", "Counter(set(text))")),
    "builtin_values": case(BUILTINS, "from datetime import date\nfrom decimal import Decimal\nfrom fractions import Fraction\nassert tomorrow(date(2024, 2, 28)) == date(2024, 2, 29)\nassert price('1.10') == Decimal('2.20') and half(3) == Fraction(3, 2)\nassert list(window([1, 2, 3], 2)) == [2, 3] and dedupe([1, 1]) == {1}", ("days=1", "days=2")),
    "kept_list": case(KEPT, "xs = [1]\nq = Queue(xs)\nq.put(2)\nassert xs == [1, 2] and q.view() is xs\nxs.append(3)\nassert q.view() == [1, 2, 3]", ("self.items = items", "self.items = list(items)")),
    "kept_sets": case(KEPT, "g = Graph()\ng.add('a', 'b')\ng.add('a', 'c')\nassert g.neighbours('a') == {'b', 'c'} and g.edges == {'a': {'b', 'c'}}", ("set()).add(b)", "set()).update('d')")),
    "kept_in_place": case(KEPT, "xs = [3, 1, 2]\nsort_in_place(xs)\nassert xs == [1, 2, 3]\nsort_in_place(xs=xs, reverse=True)\nassert xs == [3, 2, 1]\nrow = [0]\nfill([row])\nassert row == [1]", ("grid[0][0] = 1", "grid[0] = [1]")),
    "kept_identity": case(KEPT, "xs = [1]\nassert same(xs) is xs and same(same) is same\nd = {'k': xs}\nassert same(d)['k'] is xs", ("def same(x): return x", "def same(x): return x[:] if isinstance(x, list) else x")),
    "kept_registry": case(KEPT, "n = register('a')\nassert solution.REGISTRY[-1] == 'a' and len(solution.REGISTRY) == n\nsolution.REGISTRY.clear()\nassert register('b') == 1", ("REGISTRY.append(x)", "REGISTRY.append(None)")),
}  # fmt: skip
