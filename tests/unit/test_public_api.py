"""What `import unhack` offers, and what it costs."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import unhack
import unhack.audit

NAMES = [
    "Batch",
    "Case",
    "FunctionVerifier",
    "Limits",
    "Pool",
    "Problem",
    "PytestVerifier",
    "PythonVerifier",
    "RubricVerifier",
    "ScriptVerifier",
    "Status",
    "StdioVerifier",
    "Task",
    "TextVerifier",
    "Verdict",
    "arun_batch",
    "astream_batch",
    "find_tasks",
    "run_batch",
    "stream_batch",
]


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `code`."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


class TestNames:
    def test_the_public_names_are_these(self) -> None:
        assert sorted(unhack.__all__) == NAMES
        assert len(unhack.__all__) <= 20

    @pytest.mark.parametrize("name", NAMES)
    def test_every_public_name_can_be_imported_and_says_what_it_is(self, name: str) -> None:
        value = getattr(unhack, name)
        assert value.__name__ == name
        assert value.__module__.startswith("unhack.")
        assert inspect.getdoc(value)

    def test_a_star_import_gives_exactly_the_public_names(self) -> None:
        namespace: dict[str, object] = {}
        exec("from unhack import *", namespace)
        assert sorted(set(namespace) - {"__builtins__"}) == NAMES

    def test_an_unknown_name_is_an_attribute_error_that_names_it(self) -> None:
        with pytest.raises(AttributeError, match="run_bach"):
            _ = unhack.run_bach  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        "name", ["run_batch", "stream_batch", "arun_batch", "astream_batch", "find_tasks"]
    )
    def test_at_most_two_arguments_are_positional(self, name: str) -> None:
        parameters = inspect.signature(getattr(unhack, name)).parameters.values()
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert len(positional) <= 2


class TestAudit:
    @pytest.mark.parametrize("name", unhack.audit.__all__)
    def test_every_name_of_the_audit_can_be_imported_and_says_what_it_is(self, name: str) -> None:
        value = getattr(unhack.audit, name)
        assert value.__name__ == name
        assert inspect.getdoc(value)

    def test_an_unknown_name_of_the_audit_is_an_attribute_error_that_names_it(self) -> None:
        with pytest.raises(AttributeError, match="audti"):
            _ = unhack.audit.audti  # type: ignore[attr-defined]


class TestCost:
    def test_importing_the_package_loads_neither_pydantic_nor_rich(self) -> None:
        loaded = loaded_after("import unhack")
        assert loaded.isdisjoint({"pydantic", "rich", "typer", "numpy", "torch", "pytest"})

    @pytest.mark.slow
    def test_scoring_loads_none_of_them_either(self) -> None:
        loaded = loaded_after(
            "import unhack\nunhack.run_batch, unhack.FunctionVerifier, unhack.Case, unhack.Pool"
        )
        assert "unhack" in loaded
        assert loaded.isdisjoint({"pydantic", "rich", "typer", "numpy", "torch", "pytest"})

    def test_importing_the_package_loads_no_part_of_it(self) -> None:
        program = "import unhack, sys\nprint([n for n in sys.modules if n.startswith('unhack.')])"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"
