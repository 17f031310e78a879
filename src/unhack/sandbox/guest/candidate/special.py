"""The special methods that cross a seal, by what is done with them.

The judge decides with this table which methods its proxies have and what becomes of a call; the
candidate reads it to say which of them a class defines.
"""

from __future__ import annotations

COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
ARITHMETIC = tuple(
    f"__{prefix}{name}__"
    for name in (  # noqa: SIM905
        "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor"
    ).split()
    for prefix in (("", "r") if name == "divmod" else ("", "r", "i"))
)
IN_PLACE = frozenset(f"__i{name[2:]}" for name in ARITHMETIC if f"__i{name[2:]}" in ARITHMETIC)
"""Of those, the ones that change a mutable object."""
JUDGED = frozenset((*COMPARISONS, *ARITHMETIC, "__contains__"))
"""Methods that would decide a comparison or a calculation with the script's data."""
RESULTS = (
    *("__len__", "__length_hint__", "__bool__", "__str__", "__repr__", "__format__", "__bytes__"),
    *("__hash__", "__int__", "__index__", "__float__", "__complex__", "__fspath__"),
)
"""Methods whose result has a builtin type, which Python itself checks; no object may stand in."""
ASKED = (
    *("__neg__", "__pos__", "__invert__", "__abs__", "__round__", "__trunc__", "__floor__"),
    *("__ceil__", "__iter__", "__reversed__", "__call__", "__getitem__", "__setitem__"),
    *("__delitem__", "__enter__", "__exit__"),
)
STEPS = ("__next__", "send", "throw", "close")
"""Calls whose end is told by the reply, never by a raised StopIteration."""
REFUSED = ("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__get__", "__set__",
           "__delete__", "__buffer__", "__array__")  # fmt: skip
"""Methods that make no sense in another process."""
ALL = frozenset((*JUDGED, *RESULTS, *ASKED, "__next__", *REFUSED))
LOWERED = frozenset(
    (*COMPARISONS, *ARITHMETIC, "__contains__", "__neg__", "__pos__", "__invert__", "__abs__")
)
"""Methods of a builtin base that the judge computes itself, on the plain value of the object."""
VALUES = (int, float, complex, str, bytes, tuple, frozenset)
"""Immutable builtin types: an object whose class is derived from one is one on either side."""
META = tuple(sorted((JUDGED - {"__contains__"}) | {"__repr__", "__str__", "__bool__"}))
"""Methods of a metaclass that are refused where the solution defines them."""
FIELDS = frozenset(
    (  # noqa: SIM905
        "errno strerror filename filename2 characters_written name path obj name_from msg "
        "lineno offset text end_lineno end_offset print_file_and_line encoding object start end "
        "reason message exceptions derive split subgroup with_traceback add_note"
    ).split()
)
"""Attributes of builtin exceptions that a class of the solution may define."""
BASES = (*VALUES, list, dict, set)
"""Builtin types whose subclasses have a plain value."""
