"""The table of `docs/reference/data-sets.md`, made from the code's.

python tests/docs/data_sets_page.py    writes it into the page
"""

from __future__ import annotations

from pathlib import Path

from unhack.tasks.loaders.data_sets import DATA_SETS
from unhack.tasks.loaders.options import APPS_SETUP, LIVE_SETUP, RLLM_SETUP

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "data-sets.md"
SETUPS = {
    "APPS and TACO": APPS_SETUP,
    "LiveCodeBench and PRIME": LIVE_SETUP,
    "DeepCoder": RLLM_SETUP,
}
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
    for title, setup in SETUPS.items():
        lines += [f"### The imports of {title}", "", "```python", setup.strip(), "```", ""]
    return "\n".join(lines)


def _signed(sign: str) -> str:
    return f", the answer with `{sign}`" if sign else ""


def with_table(text: str) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
