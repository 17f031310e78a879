"""Python source parsed by one thread at a time.

Python 3.11 counts the depth of a tree in one place for all threads, and the collector may hand the
lock of the interpreter on in the middle: two threads that parse at once then raise SystemError
(CPython issue 106905). Judges of a tournament are threads.
"""

from __future__ import annotations

import ast
import threading

_ONE = threading.Lock()


def parse_python(source: str | bytes) -> ast.Module:
    """`ast.parse`. Raises SyntaxError, ValueError, and what else `ast.parse` does."""
    with _ONE:
        return ast.parse(source)
