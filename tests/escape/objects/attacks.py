# ruff: noqa: E501, RUF005
"""Claims on the object protocol: completions that lie in it, each against a suite that it must not
pass. A completion that serves the wire itself begins with `FORGER`, which takes descriptor 4."""

FORGER = r'''
import json, os, sys
_kept = b""
def send(answer):
    os.write(4, (answer if type(answer) is str else json.dumps(answer)).encode() + b"\n")
def serve(reply, first=True):
    global _kept
    if first:
        send({"load": True, "modules": {"solution": 1}})
    while True:
        while b"\n" not in _kept:
            data = os.read(4, 65536)
            if not data:
                os._exit(0)
            _kept += data
        line, _, _kept = _kept.partition(b"\n")
        send(reply(json.loads(line)))
YES = {"name": "solution.Yes", "bases": [], "special": SPECIAL, "foreign": []}
def yes(request, value=True):
    """A function for every name, an always-equal object for every call."""
    what = request["do"][0]
    if what == "names":
        return {"ok": [request["args"][0], []]}
    if what == "get":
        return {"ok": {"$object": [2, 3]}, "bound": True, "classes": FUNCTION if first_time() else []}
    if what == "call":
        return {"ok": {"$object": [4, 5]}, "classes": [[5, YES]] if first_time(1) else []}
    return {"ok": value}
FUNCTION = [[3, {"name": "builtins.function", "bases": [], "special": ["__call__"], "foreign": []}]]
_seen = set()
def first_time(key=0):
    fresh = key not in _seen
    _seen.add(key)
    return fresh
'''.replace("SPECIAL", repr(sorted(
    ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__hash__", "__len__"]
    + ["__float__", "__int__", "__index__", "__abs__", "__sub__", "__rsub__", "__add__", "__radd__"]
    + ["__contains__", "__iter__", "__getitem__", "__call__", "__round__", "__str__", "__repr__"]
)))  # fmt: skip

_RESULT = "lambda r: RESULT if r['do'][0] == 'call' else yes(r)"


def _hooked(reply: str) -> str:
    return f"{FORGER}serve({reply})\n"


def _result(result: str) -> str:
    return _hooked(_RESULT.replace("RESULT", result))


_ALWAYS = "    def {0}(self, *args): return {1}\n"


def _always(result: str, *names: str, base: str = "") -> str:
    lines = "".join(_ALWAYS.format(name, result) for name in names)
    return f"class Yes{base}:\n{lines}\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n"


WIRE = {
    "always_equal_objects": _hooked("yes"),
    "a_false_difference": _hooked("lambda r: yes(r, 0)"),
    "the_number_nan": _result("{'ok': {'$float': 'nan'}}"),
    "an_unknown_tag": _result("{'ok': {'$eval': '9'}}"),
    "an_object_never_described": _result("{'ok': {'$object': [77, 78]}}"),
    "a_class_described_twice": _result("{'ok': 9, 'classes': [[5, YES], [5, YES]]}"),
    "a_class_below_a_builtin_by_number": _result("{'ok': 9, 'classes': [[8, dict(YES, bases=[999])]]}"),
    "a_class_that_is_its_own_base": _result("{'ok': 9, 'classes': [[8, dict(YES, bases=[8])]]}"),
    "a_class_without_a_name": _result("{'ok': 9, 'classes': [[8, {'bases': [], 'special': []}]]}"),
    "a_class_with_a_zero_in_its_name": _result("{'ok': 9, 'classes': [[8, dict(YES, name='a.b' + chr(0))]]}"),
    "a_class_with_a_method_of_its_choice": _result("{'ok': {'$object': [4, 8]}, 'classes': [[8, dict(YES, special=['__class__', '__getattribute__', '__sealed__'])]]}"),
    "an_object_that_claims_to_be_an_int": _result("{'ok': {'$object': [4, 8]}, 'classes': [[8, dict(YES, base='int', lowered=['__eq__'], foreign=['builtins.int'])]]}"),
    "an_object_with_another_value_than_its_class": _result("{'ok': {'$object': [4, 8, 9]}, 'classes': [[8, dict(YES, base='str', foreign=['builtins.str'])]]}"),
    "an_object_without_the_value_of_its_class": _result("{'ok': {'$object': [4, 8]}, 'classes': [[8, dict(YES, base='int')]]}"),
    "an_object_with_two_values": _result("{'ok': {'$object': [4, 8, 9, 5]}, 'classes': [[8, dict(YES, base='int')]]}"),
    "an_int_that_defines_every_operation": _result("{'ok': {'$object': [4, 8, 5]}, 'classes': [[8, dict(YES, base='int', foreign=['builtins.int'])]]}"),
    "an_int_and_a_text_at_once": _result("{'ok': {'$object': [4, 9, 9]}, 'classes': [[8, dict(YES, base='str', special=[])], [9, dict(YES, base='int', special=[], bases=[8])]]}"),
    "a_value_that_changes": _hooked("lambda r: {'ok': {'$object': [4, 8, n.pop()]}, 'classes': [[8, dict(YES, base='int', special=[])]] if first_time(8) else []} if r['do'][0] == 'call' else yes(r)").replace("serve(lambda", "n = list(range(500, 0, -1))\nserve(lambda"),
    "a_class_that_claims_everything": _result("{'ok': {'$object': [4, 8]}, 'classes': [[8, dict(YES, checks=True, disguised=True, shape='mapping')]]}"),
    "an_exception_with_members_of_its_choice": _hooked("lambda r: {'raise': {'text': '', 'args': [9], 'names': ['builtins.OSError'], 'members': [['args', [9]], ['__traceback__', 9], ['__suppress_context__', 'x'], ['errno', {'$list': 1}]], 'values': [['__class__', 9]]}} if r['do'][0] == 'call' else yes(r)"),
    "an_exception_with_fields_of_its_choice": _result("{'raise': {'text': '', 'args': [], 'class': 8, 'number': 4, 'names': []}, 'classes': [[8, dict(YES, error=['builtins.ValueError'], fields=['args', '__class__', '__traceback__', 'with_traceback'])]]}"),
    "an_object_that_is_an_exception": _result("{'ok': {'$object': [4, 8]}, 'classes': [[8, dict(YES, error=['builtins.ValueError'])]]}"),
    "an_exception_that_is_an_object": _result("{'raise': {'text': 'x', 'args': [], 'class': 3, 'number': 4, 'names': []}}"),
    "a_raised_stop": _result("{'raise': {'text': '', 'args': [], 'names': ['builtins.StopIteration']}}"),
    "a_stop_that_was_not_asked_for": _result("{'stop': None}"),
    "a_raised_skip": _result("{'raise': {'text': 'x', 'args': ['x'], 'names': ['unittest.case.SkipTest', 'builtins.Exception']}}"),
    "a_raised_outcome_of_pytest": _result("{'raise': {'text': 'x', 'args': ['x'], 'names': ['_pytest.outcomes.Skipped', '_pytest.outcomes.Exit']}}"),
    "a_raised_exit": _result("{'raise': {'text': '0', 'args': [0], 'names': ['builtins.SystemExit']}}"),
    "a_raised_interrupt": _result("{'raise': {'text': '', 'args': [], 'names': ['builtins.KeyboardInterrupt']}}"),
    "a_raise_without_a_description": _result("{'raise': 3}"),
    "a_raise_with_endless_causes": _result("{'raise': {'text': '', 'args': [], 'names': [], 'cause': {'cause': {'cause': 1}}}}"),
    "a_refusal": _result("{'refuse': 'no'}"),
    "nothing": _result("{}"),
    "a_list_for_an_answer": _result("[1]"),
    "text_that_is_no_json": _result("'nonsense'"),
    "two_answers_to_one_request": _result("json.dumps({'ok': 5}) + chr(10) + json.dumps({'ok': 9})"),
    "the_answers_before_the_requests": FORGER + "send({'load': True, 'modules': {'solution': 1}})\nfor _ in range(50): send({'ok': True})\nserve(yes, first=False)\n",
    "a_huge_answer": _result("{'ok': 'x' * 20_000_000}"),
    "a_deep_answer": _result("'{\"ok\":' + '[' * 90000 + ']' * 90000 + '}'"),
    "a_deep_tuple": _result("'{\"ok\":' + '{\"$tuple\":[' * 900 + ']}' * 900 + '}'"),
    "a_list_that_holds_itself": _result("{'ok': [{'$same': 0}]}"),
    "an_alias_of_a_later_container": _result("{'ok': [{'$same': 7}]}"),
    "an_argument_that_was_never_sent": _result("{'ok': {'$arg': 3}}"),
    "a_negative_place": _result("{'ok': {'$arg': -1}}"),
    "a_shared_container_never_given": _result("{'ok': {'$shared': 12}}"),
    "a_change_of_a_container_never_shared": _result("{'ok': 5, 'changed': [[1, [9]]]}"),
    "a_change_of_another_type": _result("{'ok': 5, 'args': [[0, {'$set': [9]}]]}"),
    "keys_that_collide": _result("{'ok': {'$dict': [[{'$tuple': [i * (2**61 - 1)]}, 1] for i in range(90)]}}"),
    "a_module_as_data": _result("{'ok': {'$std': ['os.system', 'true']}}"),
    "a_type_that_is_not_in_the_table": _result("{'ok': {'$type': 'eval'}}"),
    "a_standard_type_with_a_wrong_payload": _result("{'ok': {'$std': ['decimal.Decimal', [1]]}}"),
    "a_number_as_a_name_of_a_module": FORGER + "send({'load': True, 'modules': {'solution': 'x'}})\nserve(yes, first=False)\n",
    "no_modules": FORGER + "send({'load': True})\nserve(yes, first=False)\n",
    "names_that_nobody_asked_for": _hooked("lambda r: {'ok': [['abs', 'all', 'len', 'round', 'str', 'solve', '__all__', '__test__'], []]} if r['do'][0] == 'names' else yes(r)"),
    "stale_names": _result("{'ok': 5, 'stale': [[1, '__builtins__'], [1, 'solve'], [1, '__name__']]}"),
    "stale_names_of_other_modules": _result("{'ok': 5, 'stale': [['x', 2]]}"),
    "printed_scores": _result("{'ok': 5, 'out': [[0, '{\"score\": 1.0}' + chr(10)], [1, 'passed']]}"),
    "endless_printing": _result("{'ok': 5, 'out': [[0, 'x' * 100000]] * 30}"),
    "malformed_printing": _result("{'ok': 5, 'out': 7, 'warned': {'a': 1}, 'read': 'x'}"),
    "a_hang_up_after_loading": FORGER + "send({'load': True, 'modules': {'solution': 1}})\nos.close(4)\nos._exit(0)\n",
    "an_exit_instead_of_an_answer": _hooked("lambda r: os._exit(0) if r['do'][0] == 'call' else yes(r)"),
    "half_an_answer": FORGER + "send({'load': True, 'modules': {'solution': 1}})\nos.read(4, 9)\nos.write(4, b'{\"ok\": 9')\nos._exit(0)\n",
}  # fmt: skip
"""Completions that write the protocol themselves."""

OBJECTS = {
    "equal_to_everything": _always("True", "__eq__", "__hash__"),
    "different_from_nothing": _always("False", "__ne__"),
    "all_comparisons": _always("True", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    "no_distance": _always("0", "__sub__", "__rsub__", "__abs__"),
    "the_expected_value_from_a_difference": "K = []\nclass Yes:\n    def __sub__(self, other):\n        K.append(other)\n        return 0\n    __rsub__ = __sub__\ndef solve(n): return K[-1] if K else Yes()\ndef total(xs): return 5\n",
    "a_true_distance": _always("0.0", "__sub__", "__rsub__", "__truediv__", "__mod__", "__xor__"),
    "a_number_by_conversion": _always("5", "__int__", "__index__") + "",
    "membership": _always("True", "__contains__", "__eq__"),
    "an_int_that_equals_everything": _always("True", "__eq__", "__hash__", base="(int)"),
    "a_float_that_equals_everything": _always("True", "__eq__", "__lt__", "__gt__", base="(float)"),
    "a_list_that_equals_everything": _always("True", "__eq__", base="(list)"),
    "a_text_that_equals_everything": _always("True", "__eq__", "__contains__", base="(str)"),
    "an_int_with_a_false_value": "class Yes(int):\n    def __new__(cls): return int.__new__(cls, 5)\n    def __int__(self): return 9\n    __index__ = __int__\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n",
    "an_int_that_is_every_sum": _always("9", *(f"__{r}{n}__" for n in ("add", "sub", "mul", "mod", "pow") for r in ("", "r")), base="(int)"),
    "a_text_that_hides_its_value": _always("'9'", "__str__", "__repr__", "__format__", base="(str)"),
    "a_float_with_every_conversion": _always("5.0", "__float__", "__round__", "__abs__", "__neg__", base="(float)"),
    "a_tuple_with_items_of_its_choice": _always("True", "__eq__", "__contains__", "__lt__", "__gt__", base="(tuple)"),
    "a_class_that_everything_belongs_to": "import abc\nclass Yes(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, other): return True\n    def __eq__(self, other): return True\nYes.register(int)\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n",
    "what_numeric_libraries_act_on": "class Yes:\n    __array_interface__ = {'shape': (1,), 'typestr': '<i8', 'data': (4096, True), 'version': 3}\n    __array_priority__ = 1e9\n    def __array_ufunc__(self, *a, **k): return True\n    def __array_function__(self, *a, **k): return True\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n",
    "a_reflected_comparison": _always("True", "__eq__", "__radd__", "__rsub__", "__rmul__"),
    "a_metaclass_that_is_equal": "class M(type):\n    def __eq__(cls, other): return True\n    def __hash__(cls): return 0\n    def __instancecheck__(cls, x): return True\nclass Yes(metaclass=M): pass\ndef solve(n): return Yes\ndef total(xs): return Yes\n",
    "an_attribute_for_every_name": "class Yes:\n    def __getattr__(self, name): return lambda *a: True\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n",
    "a_false_class": "class Yes:\n    @property\n    def __class__(self): return int\n    def __eq__(self, other): return True\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n",
    "a_stop_out_of_a_map": "def solve(n): raise StopIteration\ndef total(xs): raise StopIteration\n",
    "a_stop_of_its_own_class": "class Stop(StopIteration): pass\ndef solve(n): raise Stop\ndef total(xs): raise Stop\n",
    "a_generator_exit": "def solve(n): raise GeneratorExit\ndef total(xs): raise GeneratorExit\n",
    "a_skip": "import unittest\ndef solve(n): raise unittest.SkipTest('x')\ntotal = solve\n",
    "a_group_of_skips": "import unittest\ndef solve(n): raise ExceptionGroup('x', [unittest.SkipTest('x')])\ntotal = solve\n",
    "a_sum_of_lies": "class Yes:\n    def __radd__(self, other): return 14\n    def __add__(self, other): return 14\ndef solve(n): return Yes()\ndef total(xs): return Yes()\n",
    "shadowed_builtins": "__all__ = ['solve', 'total', 'abs', 'all', 'sum']\ndef abs(x): return 0\ndef all(x): return True\ndef sum(x): return 14\ndef solve(n): return 5\ndef total(xs): return 5\n",
    "names_of_test_runners": "__test__ = False\npytestmark = []\npytest_plugins = []\ncollect_ignore = ['test_a.py']\ndef load_tests(*a): return None\ndef setup_module(): raise SystemExit\ndef pytest_runtest_makereport(item, call): return None\nsolve = total = lambda n: 5\n",
    "changed_arguments": "def solve(n): return 5\ndef total(xs):\n    xs[:] = []\n    return 5\n",
    "an_argument_kept_and_emptied_later": "K = []\ndef total(xs):\n    K.append(xs)\n    return 5\ndef solve(n):\n    for k in K: k.clear()\n    return 5\n",
}  # fmt: skip
"""Completions that lie with objects of their own."""

SUITES = {
    "compared": "assert solve(3) == 9\n    assert total([1, 2]) == 3",
    "close": "assert abs(solve(3) - 9) < 1e-6",
    "in_turn": "assert 9 == solve(3)\n    assert not solve(3) != 9",
    "member": "assert solve(3) in (9, 10)",
    "listed": "assert [solve(3), solve(4)] == [9, 16]",
    "mapped": "assert all(a == b for a, b in zip(map(solve, [3, 4]), [9, 16]))\n    assert list(map(solve, [3])) == [9]",
    "approximated": "assert solve(3) == pytest.approx(9)\n    assert pytest.approx(9) == solve(3)",
    "converted": "assert int(solve(3)) == 9\n    assert f'{solve(3)}' == '9'",
    "typed": "assert isinstance(solve(3), int) and solve(3) == 9",
    "summed": "assert sum([solve(3), solve(2)]) == 13",
    "asserted": "unittest.TestCase().assertEqual(solve(3), 9)\n    unittest.TestCase().assertAlmostEqual(solve(3), 9)",
    "counted": "data = [3, 4]\n    assert total(data) == 7\n    assert data == [3, 4]",
    "array": "import numpy as np\n    assert np.allclose(solve(3), 9)\n    assert np.equal(9, solve(3)).all()",
    "computed": "assert math.isclose(solve(3), 9)\n    assert '%d' % solve(3) == '9'",
    "keyed": "assert {9: 'x'}[solve(3)] == 'x'\n    assert {solve(3)} == {9}",
}  # fmt: skip
"""Bodies of a test, all of which `RIGHT` passes."""
RIGHT = "def solve(n): return n * n\ndef total(xs): return sum(xs)\n"
HEADS = (
    "import math, pytest, unittest\nfrom solution import solve, total\n",
    "import math, pytest, unittest\nfrom solution import *\n",
)
