"""Readings of a function's parameters: what each takes, as its name says, as the user says, or as
trying shows.

    bound(subject, {"gold": "sol", "text": "completion"})
    readings_of(signature, row)

Covered: the completion, the answer, the prompt, the whole row, one column.
Not covered: a parameter that takes something made of several columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from unhack.audit.subject import AuditProblem
from unhack.audit.subjects.signatures import Signature
from unhack.core.errors import UsageError

MOST_READINGS = 16
_ROLES = {
    "completion": "completion",
    "gold": "answer",
    "answer": "answer",
    "prompt": "prompt",
    "row": "row",
}


def bound(
    signature: Signature, row: AuditProblem, bind: Mapping[str, str]
) -> tuple[Signature, str]:
    """The signature as the user binds it, and the column that holds the answer; empty where the
    user names none.

    A key is a role (`completion`, `gold`, `prompt`, `row`) and its value a parameter, or for `gold`
    a column; or the key is a parameter and the value a role or a column. Raises UsageError.
    """
    names = (*signature.positional, *signature.keywords)
    roles, gold = dict(signature.roles), ""
    for key, value in bind.items():
        if key == "gold" and value.partition(".")[0] in row.extra:
            gold = value
        elif key in _ROLES and value in names:
            roles[value] = f"={_ROLES[key]}"
        elif key in names and value in _ROLES:
            roles[key] = f"={_ROLES[value]}"
        elif key in names and value.partition(".")[0] in row.extra:
            roles[key] = f"=column {value}"
        else:
            raise UsageError(
                f"--bind {key}={value}: write ROLE=PARAMETER, gold=COLUMN or PARAMETER=COLUMN; the "
                f"roles are completion, gold, prompt and row, the parameters {_listed(names)}, the "
                f"columns {_listed(row.extra)}"
            )
    return replace(signature, roles=tuple(roles.items())), gold


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def readings_of(signature: Signature, row: AuditProblem) -> Iterator[Signature]:
    """Readings of the parameters, first as the names say. One that has neither a usual name nor a
    column of its own takes the answer, the whole row, the prompt, or a column; one of them the
    completion where none does."""
    yield signature
    names = (*signature.positional, *signature.keywords)
    open_ones = [
        name
        for name in names
        if name in signature.required and signature.role_of(name) == "" and name not in row.extra
    ]
    taken = set(names) | {signature.completion_in}
    columns = [f"=column {key}" for key in row.extra if key not in taken]
    values = ["=answer", "=row", *columns, "=prompt"]
    none_is_it = not any(signature.role_of(name) == "completion" for name in names)
    values += ["=completion"] * none_is_it
    tried = itertools.product(values, repeat=min(len(open_ones), 2))
    # The likeliest values first, at whichever place; a completion has to be somewhere.
    for chosen in sorted(tried, key=lambda one: sum(map(values.index, one))):
        whole = len(set(chosen)) == len(chosen) and (not none_is_it or "=completion" in chosen)
        if chosen and whole:
            roles = {**dict(signature.roles), **dict(zip(open_ones, chosen, strict=False))}
            yield replace(signature, roles=tuple(roles.items()))


def text_of_roles(signature: Signature) -> str:
    """The roles that trying told, for people."""
    return ", ".join(
        f"{name} takes the {role[1:]}" for name, role in signature.roles if role[0] == "="
    )
