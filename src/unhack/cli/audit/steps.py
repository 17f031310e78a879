"""The command that follows an audit, as the last line of its first screen.

    next_steps(arguments, given, report, subject)    [("unhack audit … --fix", "prints a diff …")]

Covered: a fix for a hack, a larger budget for what did not run to its end, rows for a function that
came without any, with the columns that it reads. Not covered: what only the reader can decide.
"""

from __future__ import annotations

import json
import math
import shlex
from typing import Any

from unhack.audit.options import AuditOptions
from unhack.audit.report.plan import budget_to_go_on
from unhack.audit.report.report import AuditReport, Conclusion
from unhack.audit.subject import Subject
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.inputs.missing_fields import needed_columns
from unhack.audit.subjects.loading import CUT_OFF
from unhack.cli.audit.arguments import AuditArguments

Step = tuple[str, str]
"""A command and its purpose."""
_OUTPUT = frozenset(
    "as_json sarif html pairs write_tests fix force verbose github".split()  # noqa: SIM905
)
_ROWS = "rows.jsonl"
_MORE = 4
"""As many seconds as before, where right completions could not be looked for to the end."""


def next_steps(
    arguments: AuditArguments,
    given: frozenset[str],
    *,
    report: AuditReport,
    subject: Subject,
    options: AuditOptions,
) -> list[Step]:
    """The next command, at most two."""
    drilled = isinstance(subject, FunctionSubject) and subject.drilled
    found: list[Step] = []
    if report.conclusion is Conclusion.EXPLOITABLE and arguments.fix is None:
        text = "prints a diff that closes it and keeps right answers; writes nothing"
        found.append((_command(arguments, given, "--fix"), text))
    elif report.is_undecided:
        more = budget_to_go_on(report.plan, calls=options.calls, seconds=arguments.seconds)
        if CUT_OFF in report.assumed:
            more = more or ["--seconds", str(math.ceil(_MORE * arguments.seconds))]
        if more:
            found.append((_command(arguments, given - {"calls", "seconds"}, *more), "goes on"))
    if report.conclusion is Conclusion.UNPROVEN and not subject.sees_answer:
        text = "in it, is_wrong(prompt, completion, answer) says what is wrong; where form is all "
        text += "that it is to reward, --allow-unproven"
        if not (isinstance(subject, FunctionSubject) and needed_columns(subject)):
            return [(_command(arguments, given - {"oracle"}, "--oracle", "oracle.py"), text)]
    if drilled and isinstance(subject, FunctionSubject):
        row = json.dumps(row_for(subject), ensure_ascii=False)
        with_rows = _command(arguments, given - {"problems"}, "--problems", _ROWS)
        found.append((with_rows, f"with your own rows, twenty or so, one a line: {row}"))
    elif report.conclusion is Conclusion.SOUND and "power" not in given:
        found.append((_command(arguments, given, "--power"), "measures what that is worth"))
    return found


def row_for(subject: FunctionSubject) -> dict[str, Any]:
    """An example of a row that a function can be audited on."""
    columns = needed_columns(subject)
    named = {name: dict.fromkeys(keys, "…") if keys else "…" for name, keys in columns.items()}
    answer = {} if columns and not subject.signature.sees_answer else {"answer": "…"}
    return {"prompt": "…", **answer, **named, "correct": ["…"]}


def _command(arguments: AuditArguments, given: frozenset[str], *more: str) -> str:
    """The same command with other output and with `more`."""
    words = ["unhack", "audit", arguments.target]
    for name in AuditArguments.__dataclass_fields__:
        if name not in given or name in _OUTPUT or name == "target":
            continue
        value: Any = getattr(arguments, name)
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value not in (None, False):
            for one in value if isinstance(value, (list, tuple)) else (value,):  # pyright: ignore[reportUnknownVariableType]
                number = isinstance(one, float) and math.isfinite(one)
                words += [option, f"{one:g}" if number else str(one)]  # pyright: ignore[reportUnknownArgumentType]
    return shlex.join([*words, *more])
