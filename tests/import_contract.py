"""The contract type `only`: what a package may import at all, instead of what it may not.

Covered: every import statement of the package's modules, lazy ones too; outside of the project the
standard library alone, unless another package is named.
Not covered: modules that are loaded by a name worked out at run time
(`tests/escape/test_trust_zones.py` looks at processes).
"""

from __future__ import annotations

import sys

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class OnlyContract(Contract):
    """`source` imports itself, `allowed` and the standard library, and nothing else."""

    type_name = "only"

    source = fields.StringField()
    allowed = fields.SetField(subfield=fields.StringField(), required=False, default=set())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at each import of the package. Raises ValueError when there is no such package."""
        del verbose
        source, allowed = str(self.source), {str(self.source), *self.allowed}
        if source not in graph.modules:
            raise ValueError(f"there is no package {source}")
        modules = {source, *graph.find_descendants(source)}
        broken = sorted(
            (importer, imported)
            for importer in modules
            for imported in graph.find_modules_directly_imported_by(importer)
            if not _within(imported, allowed)
        )
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import."""
        for importer, imported in check.metadata["broken"]:
            output.print_error(f"{importer} must not import {imported}")


def _within(imported: str, allowed: set[str]) -> bool:
    if imported.partition(".")[0] in sys.stdlib_module_names:
        return True
    return any(imported == name or imported.startswith(f"{name}.") for name in allowed)
