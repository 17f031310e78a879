"""Rules of fixes for an environment's grader: small changes of its tests, each to close a hole.

    for rule in RULES:
        changes = rule.make(case)      # {path: text} of tests, or {} where it does not fit

Covered: of a Harbor folder, what the agent leaves for the shell, the interpreter and the runner of
the tests, its processes, given files that it changed, a run of the tests that it ends early, a
reward that lies there before; of every task with Python tests, further inputs with the results of
the reference. Each is a proposal: a trial in the environment says whether it closes anything.
Not covered: code of the agent in the tests' own process that turns reports; tests that ask for
nothing but a form. Those are for an agent, or for the author.
"""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from unhack.audit.environments.attack import AttackRoute
from unhack.audit.environments.oracle import Trace
from unhack.audit.environments.probes import BehaviourProbe
from unhack.environments.task import RepositoryTask

SCRIPT = "test.sh"
_MOST_GIVEN, _MOST_CASES, _MOST_TEXT = 40, 24, 120_000
_MORE = "test_more_cases"
_MARK, _REWARDS = "/logs/verifier/.tests-ended", "/logs/verifier/reward"
_STRAY = (
    "conftest.py pytest.ini .pytest.ini tox.ini setup.cfg sitecustomize.py usercustomize.py "
    "pytest.py pytest_cov.py"
)
_ENVIRONMENT = r"""# Nothing that the agent left for shells and interpreters counts here.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
while read -r _ _ name; do unset -f "$name"; done < <(declare -F)
unalias -a
unset PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTEST_ADDOPTS PYTEST_PLUGINS LD_PRELOAD BASH_ENV ENV
export PYTHONNOUSERSITE=1 PYTHONSAFEPATH=1
"""
_PROCESSES = r"""# The agent's processes end before the tests begin.
keep=" 1 $$ "; up=$$
while [ "$up" -gt 1 ]; do
  up=$(awk '/^PPid:/ { print $2 }' "/proc/$up/status"); keep="$keep$up "
done
for one in /proc/[0-9]*; do
  case "$keep" in *" ${one#/proc/} "*) ;; *) kill -9 "${one#/proc/}" 2>/dev/null ;; esac
done
"""
_REWARD = """# There is no reward before the tests have ended.
rm -rf /logs/verifier/*; mkdir -p /logs/verifier; echo 0 > /logs/verifier/reward.txt
"""
_ENDED = f"""# A run of the tests that does not come to its end earns nothing.
rm -rf {_MARK}
trap '[ -e {_MARK} ] || {{ rm -f {_REWARDS}.*; echo 0 > {_REWARDS}.txt; }}' EXIT
"""
_END_TEST = f'''

def test_zz_the_tests_come_to_their_end():
    """The last test leaves a mark, without which there is no reward."""
    with open("{_MARK}", "w"):
        pass
'''
_CASES = f'''

def {_MORE}():
    """Further inputs, with what the reference gives."""
    for source, name, expected in _MORE_CASES:
        seen = []

        def look(number, make):
            value = make()
            seen.append([number, f"{{type(value).__name__}}: {{value!r}}"[:400]])
            return value

        def note(number, error):
            seen.append([number, error])

        space = {{"_seen": look, "_raised": note}}
        exec(compile(source, "<more cases>", "exec"), space)
        space[name]()
        assert seen == expected, (seen, expected)


'''


@dataclass(frozen=True, slots=True)
class GraderCase:
    """A task whose grader is repaired."""

    task: RepositoryTask
    """With the tests as they are at present."""
    seen: Sequence[tuple[BehaviourProbe, Trace]]
    """The traces that probes see of the reference."""
    script: bool
    """True for a Harbor folder, whose `test.sh` grades."""
    base: str
    """The absolute path of its working folder; empty where there is no script."""


@dataclass(frozen=True, slots=True)
class GraderRule:
    """One kind of change."""

    name: str
    make: Callable[[GraderCase], Mapping[str, str]]
    routes: tuple[AttackRoute, ...]
    """Of the holes that it may close."""


def _at_top(case: GraderCase, lines: str) -> dict[str, str]:
    """The script with lines below its first; nothing where they stand in it."""
    text = case.task.tests.get(SCRIPT, "")
    if not case.script or not text or lines in text:
        return {}
    head, _, rest = text.partition("\n")
    first = f"{head}\n" if head.startswith("#!") else ""
    return {SCRIPT: f"{first}{lines}{rest if first else text}"}


def _stray(case: GraderCase) -> Mapping[str, str]:
    names = [one for one in _STRAY.split() if one not in case.task.files]
    names = [one for one in names if one not in case.task.reference]
    places = " ".join(shlex.quote(posixpath.join(case.base, one)) for one in names)
    return _at_top(case, f"# Settings of runners that the agent added are no part of the work.\n"
                         f"rm -rf {places}\n")  # fmt: skip


def _given(case: GraderCase) -> Mapping[str, str]:
    """Given files that the tests name and the solution leaves alone come back before the tests."""
    text = "\n".join(case.task.tests.values())
    named = [path for path in case.task.files if path.rpartition("/")[2] in text]
    kept = [path for path in named if path not in case.task.reference][:_MOST_GIVEN]
    found: dict[str, str] = {}
    lines = ["# Given files are graded as they were given."]
    for number, path in enumerate(kept):
        try:
            found[f"given/{number}"] = case.task.files[path].decode()
        except UnicodeDecodeError:
            continue
        place = shlex.quote(posixpath.join(case.base, path))
        lines.append(f"rm -rf {place}; mkdir -p $(dirname {place})")
        lines.append(f"cp /tests/given/{number} {place}")
    top = _at_top(case, "\n".join(lines) + "\n") if found else {}
    return {**found, **top} if top else {}


def _ended(case: GraderCase) -> Mapping[str, str]:
    path, top = _python_tests(case), _at_top(case, _ENDED)
    return {**top, path: case.task.tests[path] + _END_TEST} if path and top else {}


def _more_cases(case: GraderCase) -> Mapping[str, str]:
    """Tests with other inputs, and the results of the reference."""
    path = _python_tests(case)
    if not path or _MORE in case.task.tests[path]:
        return {}
    cases = {
        probe.source: (probe.name, trace)
        for probe, trace in reversed(case.seen)
        if trace and not any(" at 0x" in str(seen) for _, seen in trace)
    }
    table, size = list[str](), 0
    for source, (name, trace) in [*cases.items()][:_MOST_CASES]:
        line = f"    ({source!r}, {name!r},\n     json.loads({json.dumps(trace)!r})),\n"
        size += len(line)
        table += [line] if size <= _MOST_TEXT else []
    if not table:
        return {}
    more = f"{_CASES}import json\n\n_MORE_CASES = [\n{''.join(table)}]\n"
    return {path: case.task.tests[path] + more}


def _python_tests(case: GraderCase) -> str:
    """The file of Python tests that certainly runs; empty where there is none."""
    tests = case.task.tests
    named = [one.partition("::")[0] for one in case.task.fail_to_pass]
    script = tests.get(SCRIPT, "")
    named += [one for one in tests if one.rpartition("/")[2] in script]
    return next((one for one in named if one.endswith(".py") and "def test" in tests[one]), "")


_CODE = (AttackRoute.MEANING, AttackRoute.SOURCE)
_PLACE = (AttackRoute.WORKSPACE, AttackRoute.LEAK)
RULES = (
    GraderRule("further inputs, with the results of the reference", _more_cases, _CODE),
    GraderRule("given files are graded as they were given", _given, _PLACE),
    GraderRule("the tests have to come to their end", _ended, _CODE),
    GraderRule("environment and start files of the agent do not count",
               partial(_at_top, lines=_ENVIRONMENT), _PLACE),
    GraderRule("settings of runners that the agent added are removed", _stray, _PLACE),
    GraderRule("processes of the agent end before the tests",
               partial(_at_top, lines=_PROCESSES), (*_PLACE, AttackRoute.SOURCE)),
    GraderRule("no reward before the tests", partial(_at_top, lines=_REWARD), _PLACE),
)  # fmt: skip
"""Those that ask for more work first."""
