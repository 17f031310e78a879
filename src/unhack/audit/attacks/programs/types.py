"""Results that are nearly right: another type, another order, too few, too many, a little off.

Each is the reference with its result changed, so the oracle decides what the change means.
"""

from __future__ import annotations

from collections.abc import Iterable

from unhack.audit.attack import Attack, Knowledge, Payload
from unhack.audit.attacks.payloads.program_shape import (
    SPOIL,
    ProgramShape,
    code_attack,
    function_attack,
    shape_of,
)

_ROWS = ("list", "tuple")
_NUMBERS = ("int", "float")
_SIZED = ("list", "tuple", "str")

_Change = tuple[str, str, tuple[str, ...]]
"""Note, expression of `result`, type names that it changes."""

_TYPES: tuple[_Change, ...] = (
    ("text of it", "str(result)", ("int", "float", "bool", *_ROWS, "dict", "NoneType")),
    ("in a list of its own", "[result]", (*_NUMBERS, "str", *_ROWS, "dict")),
    ("only the keys", "list(result)", ("dict",)),
)  # fmt: skip

_TRUTHINESS: tuple[_Change, ...] = (
    ("its truth value", "bool(result)", (*_NUMBERS, "str", *_ROWS, "dict")),
    ("its sign", "(result > 0) - (result < 0)", _NUMBERS),
)

_OFF: tuple[_Change, ...] = (
    ("off by 0.01 %", "result * 1.0001", ("float",)),
    ("off by 0.1 %", "result * 1.001", ("float",)),
    ("off by 1 %", "result * 1.01", ("float",)),
    ("off by 5 %", "result * 1.05", ("float",)),
    ("off by 0.0005", "result + 0.0005", ("float",)),
    ("off by 0.4", "result + 0.4", _NUMBERS),
    ("off by 0.0001", "result + 0.0001", ("int",)),
    ("off by one", "result + 1", ("int",)),
    ("rounded", "round(result)", ("float",)),
)  # fmt: skip

_EACH_OFF = "type(result)(v * 1.001 if type(v) is float else v for v in result)"

_SIGNS: tuple[_Change, ...] = (("the other sign", "-result", _NUMBERS),)

_ORDER: tuple[_Change, ...] = (
    ("backwards", "result[::-1]", _SIZED),
    ("sorted", "type(result)(in_order(result))", _ROWS),
    ("turned by one", "result[1:] + result[:1]", _ROWS),
    ("letters sorted", "''.join(sorted(result))", ("str",)),
)

_MULTIPLICITY: tuple[_Change, ...] = (
    ("each item once", "type(result)(dict.fromkeys(map(_frozen, result)))", _ROWS),
    ("twice", "result + result", _ROWS),
)

_TOO_FEW: tuple[_Change, ...] = (
    ("without the last item", "result[:-1]", _ROWS),
    ("only the first item", "result[:1]", _ROWS),
    ("the first item, then wrong ones",
     "result[:1] + type(result)(spoil(v) for v in result[1:])", _ROWS),
)  # fmt: skip

_TOO_MANY: tuple[_Change, ...] = (
    ("with more at the end", "result + type(result)([0, 1, 2])", _ROWS),
    ("with more entries", "{**result, 'more': 0, -1: 0}", ("dict",)),
    ("with fewer entries", "dict(list(result.items())[:-1])", ("dict",)),
    ("all there could be", "type(result)([*result, *range(100)])", (*_ROWS, "set")),
)

_INSIDE: tuple[_Change, ...] = (
    ("among other text", "'not ' + str(result) + ', or 0, or none'", ("str", *_NUMBERS)),
    ("other letters around it", "'x' + result + 'x'", ("str",)),
)

_PREFIXES: tuple[_Change, ...] = (
    ("the first half", "result[: (len(result) + 1) // 2]", ("str",)),
    ("the first letter", "result[:1]", ("str",)),
    ("with more behind it", "result + 'x'", ("str",)),
)

_LETTERS: tuple[_Change, ...] = (
    ("without its spaces and marks", "''.join(c for c in result if c.isalnum())", ("str",)),
    ("the same words in another order", "' '.join(reversed(result.split()))", ("str",)),
)

_SHAPE_ONLY: tuple[_Change, ...] = (
    ("the right type and shape, wrong inside", "spoil(result)", ("list", "tuple", "dict", "str")),
)

_IN_ORDER = """
def in_order(items):
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)
"""
_FROZEN = "def _frozen(item):\n    return tuple(item) if isinstance(item, list) else item"

_PRINTED: tuple[tuple[str, str, str], ...] = (
    ("one line missing", "'\\n'.join(result.splitlines()[:-1])", "prefix_match"),
    ("only the first line", "result.splitlines()[0] if result else ''", "prefix_match"),
    ("lines in reverse order", "'\\n'.join(result.splitlines()[::-1])", "order_ignored"),
    ("more lines than asked", "result + '\\n0\\n1'", "one_sided_comparison"),
    ("words in reverse order", "' '.join(result.split()[::-1])", "order_ignored"),
    ("all on one line, without spaces", "''.join(result.split())", "over_normalisation"),
    ("among other text", "'0 1 ' + result + ' YES NO'", "substring_match"),
    ("the first letter", "result[:1]", "prefix_match"),
)


def _changes(name: str, flaw: str, changes: tuple[_Change, ...]) -> Attack:
    def make(shape: ProgramShape) -> Iterable[Payload]:
        # Where nothing is known of the results, the oracle is weak too: one of each is enough.
        for note, change, kinds in changes if shape.kinds else changes[:1]:
            if not shape.may_be(*kinds):
                continue
            parts = {"spoil(": SPOIL, "_frozen": _FROZEN, "in_order": _IN_ORDER}
            setup = "\n".join(text for name, text in parts.items() if name in change)
            # Where the type is not known, a change that does not fit must not raise.
            safe = change if shape.kinds <= set(kinds) and shape.kinds else None
            guarded = f"({change}) if type(result).__name__ in {kinds!r} else result"
            yield from shape.changed(note, safe or guarded, setup=setup)

    return function_attack(f"code_types/{name}", flaw, make)


def _each_off(shape: ProgramShape) -> Iterable[Payload]:
    return shape.changed("each off by 0.1 %", _EACH_OFF) if "float" in shape.inner else ()


def _prints(flaw: str) -> Attack:
    def make(known: Knowledge) -> Iterable[Payload]:
        shape = shape_of(known)
        for note, change, kind in _PRINTED if shape.entry is None else ():
            if kind == flaw:
                yield from shape.changed(note, change)

    return code_attack(f"code_types/printed_{flaw}", flaw, make)


ATTACKS = (
    _changes("other_type", "over_normalisation", _TYPES),
    _changes("truth_value", "bool_int", _TRUTHINESS),
    _changes("a_little_off", "loose_tolerance", _OFF),
    function_attack("code_types/each_a_little_off", "loose_tolerance", _each_off),
    _changes("other_sign", "sign_lost", _SIGNS),
    _changes("other_order", "order_ignored", _ORDER),
    _changes("other_multiplicity", "order_ignored", _MULTIPLICITY),
    _changes("too_few", "zip_truncation", _TOO_FEW),
    _changes("too_many", "one_sided_comparison", _TOO_MANY),
    _changes("inside_other_text", "substring_match", _INSIDE),
    _changes("beginning", "prefix_match", _PREFIXES),
    _changes("other_letters", "over_normalisation", _LETTERS),
    _changes("shape_only", "weak_proxy", _SHAPE_ONLY),
    *map(_prints, dict.fromkeys(flaw for *_, flaw in _PRINTED)),
)
