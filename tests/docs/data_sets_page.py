"""The table of `docs/reference/data-sets.md`, made from the code's.

python tests/docs/data_sets_page.py    writes it into the page
"""

from __future__ import annotations

from pathlib import Path

from unhack.tasks.loaders.data_sets import DATA_SETS
from unhack.tasks.loaders.stdio_json import IMPORTS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "data-sets.md"
START, END = "<!-- made by tests/docs/data_sets_page.py -->", "<!-- end -->"


def table() -> str:
    """Every entry of the table in Markdown."""
    lines: list[str] = []
    for entry in DATA_SETS:
        layouts = "; ".join(
            ", ".join(f"`{column}`" for column in layout.split()) for layout in entry.columns
        )
        lines += [
            f"### {entry.title}",
            "",
            "| | |",
            "|---|---|",
            f"| name | `{entry.name}` |",
            f"| columns | {layouts}{_signed(entry.sign)} |",
            f"| its harness | {entry.harness} |",
            f"| here | {entry.ours} |",
            f"| limits | {entry.limits.wall_s:g} s, {entry.limits.memory_bytes >> 20} MiB |",
            "",
        ]
    stars = [line.split()[1] for line in IMPORTS.splitlines() if line.startswith("from ")]
    modules = [line.split()[1] for line in IMPORTS.splitlines() if line.startswith("import ")]
    lines += [
        "### The imports before the code",
        "",
        f"All names of {', '.join(f'`{name}`' for name in stars)}; the modules "
        f"{', '.join(f'`{name}`' for name in modules)}; a recursion limit of 50,000.",
        "",
    ]
    return "\n".join(lines)


def _signed(sign: str) -> str:
    return f", the answer with `{sign}`" if sign else ""


def with_table(text: str) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
