"""Attributes of the candidate's objects by the frame that reads them: the script's, a library's, or
a test runner's that looks for marks of its own.

Covered: a solution may have any name; the script and the libraries that it calls get it as the
candidate has it, however it begins.
Not covered: a runner's code that reads a name of `_SOUGHT` for the script; `_TOOLS` lists those
that do.
"""

from __future__ import annotations

import sys
import types

_SOUGHT = frozenset(
    (  # noqa: SIM905
        "__test__ __tracebackhide__ __pytest_wrapped__ pytestmark pytest_plugins place_as "
        "_pytestfixturefunction patchings load_tests setUpModule tearDownModule __objclass__ "
        "__unittest_skip__ __unittest_skip_why__ __unittest_expecting_failure__ _mock_name"
    ).split()
)
"""Names by which a test runner finds out what an object is to it; a runner does not get them."""
_RUNNERS = ("_pytest", "pluggy", "unittest", "doctest")
_TOOLS = ("_pytest.monkeypatch", "unittest.mock")
"""Modules of runners that read names for the script."""
ACTED_ON = frozenset(
    (  # noqa: SIM905
        "__array_interface__ __array_struct__ __array_ufunc__ __array_function__ __array_wrap__ "
        "__array_prepare__ __array_finalize__ __array_namespace__ __dataframe__ __dlpack__ "
        "__arrow_array__ __arrow_c_array__ __arrow_c_stream__ __cuda_array_interface__"
    ).split()
)
"""Names that numeric libraries read and do as they say; only None and numbers are harmless."""


def is_asked(name: str, depth: int) -> bool:
    """False where the code that many frames up is a test runner's, and looks for marks of its own.

    Raises nothing, and takes no account of how a name begins: a solution may define any.
    """
    if name not in _SOUGHT:
        return True
    asker: str = sys._getframe(depth + 1).f_globals.get("__name__", "")  # pyright: ignore[reportPrivateUsage]
    return asker.partition(".")[0] not in _RUNNERS or asker in _TOOLS


def caller_is_script(depth: int) -> bool:
    """True when the code that many frames up is a file of the judge's folder."""
    return in_script(sys._getframe(depth + 1))  # pyright: ignore[reportPrivateUsage]


def in_script(frame: types.FrameType) -> bool:
    """True for a frame of a file in the judge's folder."""
    return is_script_code(frame.f_code)


def is_script_code(code: types.CodeType) -> bool:
    """True for code of a file in the judge's folder."""
    return code.co_filename.startswith(("/scratch/work/", "<string>", "<doctest"))


def reads_types(frame: types.FrameType) -> bool:
    """True for code that looks at the class here, and not at the solution's."""
    asker: str = frame.f_globals.get("__name__", "")
    return asker.partition(".")[0] in (*_RUNNERS, "abc", "_py_abc", "copyreg", "unhack")


def is_copying(frame: types.FrameType) -> bool:
    """True for code of the module `copy`, which alone gets the methods here that copy."""
    return frame.f_globals.get("__name__") == "copy"
