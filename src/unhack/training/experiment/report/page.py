"""An experiment's page: no script, no font, nothing to load.

Covered: light, dark, narrow and print; every text is escaped; the page forbids itself to load
anything. Not covered: more than a few dozen arms.
"""

from __future__ import annotations

from pathlib import Path

from unhack.reporting.page import document, figure
from unhack.store.errors import storing
from unhack.store.files import write_whole
from unhack.training.experiment.report import plots, sections
from unhack.training.experiment.report.summary import TrainingSummary


def page(report: TrainingSummary) -> str:
    """The whole page."""
    mass = plots.routed_mass(report)
    routing = [arm.name for arm in report.arms if arm.routing]
    charts = [
        plots.pareto(report, "hack_held_out", "deployed hack rate on held-out modes"),
        plots.pareto(report, "hack", "deployed hack rate on all modes"),
    ]
    tested = report.tested
    parts = [
        sections.head(report),
        tested.claims_html if tested else "",
        figure("Hack against solve", charts, note=sections.pareto_note(report)),
        sections.arm_table(report),
        figure("The figure", [plots.by_run(report)], note=sections.figure_note(report)),
        tested.tests_html if tested else "",
        sections.mode_table(report),
        sections.curve_grid(report),
        figure("Routed mass", [mass], note=sections.MASS_NOTE,
               legend=sections.arm_legend(report, routing)) if mass else "",
        sections.split_table(report),
        sections.relearn_table(report),
        sections.terms(report),
        sections.footer(report),
    ]  # fmt: skip
    return document("Training against loopholes", parts)


def write_report(report: TrainingSummary, path: Path) -> None:
    """Write the page to `path`, whole or not at all. Raises StoreError."""
    with storing(path.absolute().parent):
        write_whole(path.absolute(), page(report).encode(), mode=0o644)
