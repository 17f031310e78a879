"""Options of the judging of a data set's tasks: the caller's, and the rules of its own harness.

Covered: of contest problems the names and the recursion limit before the code, the comparison of
printed and returned values, checkers in Python. Which data set has which is in `data_sets`.
Not covered: what a harness pays by accident, such as the first item of a longer list.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from unhack.core.completion import Extraction
from unhack.sandbox.limits import Limits
from unhack.verifiers.script import Mode
from unhack.verifiers.stdio import StdioCompare


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The options that a loader gives to every verifier that it builds.

    Example:

        options = LoadOptions(limits=Limits(wall_s=5.0), partial_credit=True)
        tasks = humaneval.load("humaneval.jsonl", options=options)
    """

    limits: Limits = Limits()
    extraction: Extraction = Extraction.AUTO
    """The part of a completion that is the code."""
    partial_credit: bool = False
    """Score by the share of cases passed, where the tests can be written as cases."""
    preload: tuple[str, ...] = ()
    """Third-party modules that completions may import, such as `numpy`."""
    script_mode: Mode = Mode.SEALED
    """For tests that only a script can run. `Mode.AS_WRITTEN` runs the completion in one process
    with its tests, where it can forge the score; every such verdict is marked."""

    @property
    def of_cases(self) -> dict[str, Any]:
        """The options of a verifier of cases, by their names there."""
        names = ("limits", "extraction", "partial_credit", "preload")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class HarnessRules:
    """The rules of a data set's own harness, as far as a verdict depends on them."""

    setup: str = ""
    """Source before the code."""
    numpy: bool = False
    """`np` is there, where NumPy is installed."""
    unwrap: bool = False
    """An expected list of exactly one item also stands for that item."""
    int_keys: bool = False
    """Keys of dicts that read as integers are integers, which JSON made texts."""
    compare: StdioCompare = StdioCompare.FLOAT
    """The comparison of what programs print."""
    rel_tol: float = 0.0
    """Of printed numbers other than integers."""
    abs_tol: float = 0.0
    ignore_case: bool = False
    fold_yes_no: bool = False
    """Yes and no count in any case, where the expected outputs hold no other words."""

    @property
    def preload(self) -> tuple[str, ...]:
        """Packages that the harness has and this host too, and slow modules of its setup."""
        slow = tuple(name for name in _SLOW if name in self.setup)
        return (*slow, "numpy") if self.numpy and importlib.util.find_spec("numpy") else slow


_SLOW = ("fractions", "statistics")
"""Their import costs several times what a job does; loaded for all, each would cost every job a
twentieth."""


def _setup(modules: str, names: Mapping[str, str], *, end: str = "") -> str:
    lines = [f"from {module} import {', '.join(of.split())}" for module, of in names.items()]
    return "\n".join([*lines, *(f"import {name}" for name in modules.split()), f"{end}\n"])


_STARS = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools "
    "operator io sys json"
)
LIVE_SETUP = _setup(
    f"{_STARS} time fractions",
    dict.fromkeys(f"{_STARS} builtins typing".split(), "*"),
    end="sys.setrecursionlimit(50000)",
)
"""Before the code in LiveCodeBench and PRIME. Source: their `testing_util.py`."""
APPS_SETUP = _setup(
    "sys time itertools collections math fractions random heapq",
    {
        "itertools": "accumulate product permutations combinations",
        "collections": "Counter OrderedDict deque defaultdict ChainMap",
        "functools": "lru_cache",
        "math": "sqrt sin cos tan ceil fabs floor gcd exp log log2",
        "typing": "List Tuple",
        "heapq": "*",
    },
)
"""Before the code in APPS and TACO. Source: their `testing_util.py`."""
RLLM_SETUP = _setup(
    "copy string math collections bisect heapq functools random itertools operator re datetime sys "
    "io os",
    {
        "itertools": "accumulate chain combinations count cycle groupby islice pairwise "
        "permutations product repeat zip_longest",
        "copy": "deepcopy",
        "string": "ascii_lowercase ascii_uppercase",
        "math": "atan2 ceil comb factorial floor gcd inf isqrt log log10 log2 pi prod sqrt",
        "collections": "Counter OrderedDict defaultdict deque",
        "bisect": "bisect_left bisect_right insort",
        "heapq": "heapify heappop heappush heapreplace merge nlargest nsmallest",
        "functools": "cache cmp_to_key lru_cache partial reduce",
        "random": "randrange shuffle",
        "operator": "iand itemgetter or_ sub xor",
        "os.path": "commonprefix",
        "time": "time",
        "typing": "Any Callable Deque Dict Generator Iterable Iterator List Optional Set Tuple "
        "Union",
    },
)
"""Before the code of DeepCoder. Source: rLLM's `code_utils/utils.py`."""

_CALLS = HarnessRules(unwrap=True, int_keys=True, rel_tol=1e-5, abs_tol=1e-8)
APPS = replace(_CALLS, setup=APPS_SETUP, numpy=True)
PRIME = replace(_CALLS, setup=LIVE_SETUP)
LIVE_CODE_BENCH = HarnessRules(LIVE_SETUP, compare=StdioCompare.LINES)
CODE_CONTESTS = HarnessRules(abs_tol=1e-5, ignore_case=True)
CODE_CONTESTS_PLUS = HarnessRules(compare=StdioCompare.LINES, rel_tol=1e-5, ignore_case=True)
TESTLIB = HarnessRules(rel_tol=1e-6, abs_tol=1e-6, fold_yes_no=True)
"""In place of a checker in C++ that is not run: what most of these do."""
CODEFORCES = HarnessRules(compare=StdioCompare.TOKEN, fold_yes_no=True)
DEEPCODER_CALLS = replace(APPS, setup=RLLM_SETUP)
DEEPCODER_TESTS = replace(LIVE_CODE_BENCH, setup=RLLM_SETUP, numpy=True)
"""Of rows whose tests have a `testtype`, which rLLM gives to its copy of LiveCodeBench."""

CHECKER = """
import builtins, contextlib, io, os, pathlib, re, sys

SOURCE, ERRORS = {source!r}, "surrogateescape"


def check(stdin, output, expected):
    output, expected = (re.sub(r"[\\r\\n]+", "\\n", text).strip() for text in (output, expected))
    texts = {{"input.txt": stdin, "correct_output.txt": expected, "solution_output.txt": output}}

    def bytes_of(path):
        if os.path.basename(path) not in texts:
            raise FileNotFoundError(2, "No such file or directory", path)
        return texts[os.path.basename(path)].encode("utf-8", ERRORS)

    def opened(file, mode="r", *args, **kwargs):
        data = bytes_of(file)
        raw = io.BytesIO(data)
        return raw if "b" in mode else io.TextIOWrapper(raw, "utf-8", ERRORS)

    def is_there(path):
        return os.path.basename(path) in texts

    builtins.open = io.open = opened  # no file can be written here
    os.path.exists = os.path.isfile = pathlib.Path.exists = pathlib.Path.is_file = is_there
    os.path.getsize = lambda path: len(bytes_of(path))
    sys.argv = ["checker.py", *texts]
    said, code = io.TextIOWrapper(io.BytesIO(), "utf-8", ERRORS), None
    names = {{"__name__": "__main__", "__file__": "checker.py"}}
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(SOURCE, "checker.py", "exec"), names)
    except SystemExit as end:
        code = end.code
    said.flush()
    return code in (None, 0) and said.buffer.getvalue().strip() in (b"1", b"100")
"""
"""A checker that is a program: it names three files on its command line and prints 1 or 100 for a
right output. Any other text is none, so that `50` of 100 is not paid."""
