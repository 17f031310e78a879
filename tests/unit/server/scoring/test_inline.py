"""Tasks that stand in a request."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from unhack.server.http.problems import RequestRefused
from unhack.server.scoring.inline import InlineTask, build_inline
from unhack.verifiers.stdio import StdioCompare, StdioVerifier

_CASES = [{"stdin": "", "stdout": "YES"}]


def test_the_comparison_of_a_program_is_the_requests() -> None:
    body = {"kind": "stdio", "cases": _CASES, "compare": "lines", "ignore_case": True}
    verifier = build_inline(TypeAdapter(InlineTask).validate_python(body), "one").verifier
    assert isinstance(verifier, StdioVerifier)
    assert (verifier.compare, verifier.ignore_case) == (StdioCompare.LINES, True)


def test_case_cannot_be_ignored_in_an_exact_comparison() -> None:
    body = {"kind": "stdio", "cases": _CASES, "compare": "exact", "ignore_case": True}
    task = TypeAdapter(InlineTask).validate_python(body)
    with pytest.raises(RequestRefused, match="ignore_case has no meaning"):
        build_inline(task, "one")
