"""Candidate packages are packages to the judge's pytest."""

from collections.abc import Iterator

import pytest

from unhack import Pool, Problem, Task, run_batch
from unhack.core.verdict import Status, Verdict
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.script import Mode

pytestmark = pytest.mark.slow

FILES = {
    "src/pkg/__init__.py": """'''Doc.'''

from .core import Point, area, TABLE, make
from . import sub
from .sub.deep import deep, deep as sub_deep


def __getattr__(name):
    if name == "lazy":
        from .sub import late

        return late.value
    raise AttributeError(name)


__version__ = "1.2"
""",
    "src/pkg/core.py": """from dataclasses import dataclass
from collections import namedtuple
import contextlib, enum
from pathlib import Path

TABLE = {"a": 1}
LIST = [1]


class Color(enum.Enum):
    RED = 1


Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0

    @property
    def norm(self):
        return abs(self.x) + abs(self.y)


class BadError(ValueError):
    def __init__(self, code):
        super().__init__(f"bad {code}")
        self.code = code


def area(p):
    return p.x * p.y


def make(n):
    for i in range(n):
        yield Pair(i, i * i)


def fail(c):
    raise BadError(c)


@contextlib.contextmanager
def opened():
    LIST.append("in")
    yield LIST
    LIST.pop()


def lookup(k):
    return TABLE.get(k)


def text():
    return (Path(__file__).parent / "data.txt").read_text()


def res():
    from importlib import resources

    return resources.files("pkg").joinpath("data.txt").read_text()
""",
    "src/pkg/sub/__init__.py": """from ..core import TABLE
""",
    "src/pkg/sub/deep.py": """from ..core import area


def deep():
    return "deep"


from .. import core
""",
    "src/pkg/sub/late.py": """value = 42
from . import deep as d


def sub():
    return d
""",
    "src/pkg/data.txt": "hello",
}
TESTS = """import pytest
import pkg, pkg.sub.late
from pkg import Point, area, sub, core, TABLE
from pkg.sub import deep
import pkg.core as c
from pkg.core import *


def test_a_function_of_a_package_takes_its_objects():
    assert area(Point(2, 3)) == 6


def test_submodules_and_lazy_names_are_there():
    assert pkg.sub.late.value == 42 and pkg.lazy == 42


def test_submodules_are_imported_from_their_package():
    assert deep.deep() == "deep" and pkg.sub_deep() == "deep" and pkg.deep() == "deep"


def test_errors_of_the_package_are_caught_as_its_own():
    with pytest.raises(core.BadError, match="bad 3") as e:
        core.fail(3)
    assert e.value.code == 3


def test_generators_of_named_tuples_cross():
    assert [tuple(p) for p in core.make(3)] == [(0, 0), (1, 1), (2, 4)]


def test_context_managers_cross():
    with core.opened() as l:
        assert l == [1, "in"]
    assert core.LIST == [1]


def test_data_files_lie_beside_their_modules():
    assert core.text() == "hello\\n" and core.res() == "hello\\n"


def test_module_level_collections_can_be_changed():
    core.TABLE["z"] = 26
    assert core.lookup("z") == 26
    del pkg.TABLE["z"]
    assert core.lookup("z") is None
    TABLE["q"] = 1
    assert c.lookup("q") == 1 and pkg.sub.TABLE is TABLE
    del TABLE["q"]


def test_dunder_names_and_enums_cross():
    assert (
        pkg.__version__ == "1.2"
        and core.Color.RED.value == 1
        and core.Color(1) is core.Color.RED
    )


def test_dataclasses_compare_with_their_like():
    assert Point(1, -2).norm == 3 and Point(1, 2) == Point(1, 2)


def test_modules_are_the_same_objects_everywhere():
    assert pkg.sub.late.sub() is deep
    assert deep.core is core


def test_absent_names_and_modules_are_missing():
    with pytest.raises(ImportError):
        import pkg.nope as _
    with pytest.raises(ImportError):
        from pkg import nope as _
    with pytest.raises(AttributeError):
        pkg.nope


def test_names_of_modules_can_be_patched(monkeypatch):
    monkeypatch.setattr(core, "TABLE", {"m": 3})
    assert core.lookup("m") == 3
    monkeypatch.setattr("pkg.core.LIST", [9])
    assert c.LIST == [9]


def test_modules_can_be_reloaded():
    import importlib

    core.TABLE["x"] = 9
    importlib.reload(core)
    assert core.TABLE == {"a": 1}
"""


def packed(files: dict[str, str]) -> str:
    """A completion of several files."""
    return "\n".join(f"```python {name}\n{text}\n```" for name, text in files.items())


RIGHT = packed(FILES)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=1)
    yield made
    made.close()


def judge(pool: Pool, completion: str, mode: Mode = Mode.SEALED, tests: str = TESTS) -> Verdict:
    verifier = PytestVerifier(
        {"tests/test_package.py": tests}, tuple(FILES), mode=mode, partial_credit=True
    )
    task = Task(Problem("package", "", reference=RIGHT), verifier)
    return run_batch(task, [completion], backend=pool).verdicts[0]


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
def test_a_right_package_passes_in_both_modes(pool: Pool, mode: Mode):
    verdict = judge(pool, RIGHT, mode)
    assert verdict.status is Status.PASSED, verdict.reason
    assert len(verdict.cases) == TESTS.count("def test_")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("p.x * p.y", "p.x + p.y"),
        ('return "deep"', 'return "shallow"'),
        ("value = 42", "value = 43"),
        ("self.code = code", "self.code = 0"),
        ("LIST.pop()", "LIST"),
    ],
)
def test_a_wrong_package_fails_only_the_tests_that_look(pool: Pool, old: str, new: str):
    verdict = judge(pool, RIGHT.replace(old, new))
    assert verdict.score is not None
    assert 0.5 < verdict.score < 1


@pytest.mark.parametrize(
    "broken", ["from ..core import nope", "import os; os._exit(0)", "def (", "raise SystemExit(0)"]
)
def test_a_package_that_cannot_be_imported_scores_zero(pool: Pool, broken: str):
    verdict = judge(pool, RIGHT.replace("from ..core import area", broken))
    assert verdict.score == 0.0


def test_the_tests_cannot_read_the_source_of_a_package(pool: Pool):
    tests = (
        "import pkg.core\ndef test_source():\n    assert 'area' in open(pkg.core.__file__).read()"
    )
    assert not judge(pool, RIGHT, tests=tests).passed
