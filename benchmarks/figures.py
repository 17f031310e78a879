"""Fill the README's table and the pages of audited rewards and judged cheats from
`benchmarks/results/*.json`; no figure is typed by hand.

python benchmarks/figures.py            # rewrite the table
python benchmarks/figures.py --check    # fail when README and results differ
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import audited_page
import corpus_page
from measure import RESULTS

README = Path(__file__).resolve().parents[1] / "README.md"
PLANS = README.with_name("experiments")
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"


def load(name: str) -> dict[str, Any] | None:
    """One result file, or None while nobody has run its script."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def span(values: dict[str, float], digits: int = 0) -> str:
    """Median and range."""
    low, high = values["min"], values["max"]
    return f"{values['median']:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def speed_rows(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Our rate, then each peer's ratios."""
    cells = document["cells"]
    command = document["command"]
    ours = cells["unhack"]
    rows = [
        (
            "sealed verdicts a second, two workers, HumanEval/0",
            f"{span(ours['rate'])}; {span(ours['cpu_ms'], 2)} ms CPU each",
            command,
        )
    ]
    for name, cell in cells.items():
        if name == "unhack" or "error" in cell:
            continue
        if name.startswith("unhack, "):
            share = {
                key: 1 / cell["unhack_rate_ratio"][other]
                for key, other in (("median", "median"), ("min", "max"), ("max", "min"))
            }
            label = f"rate of `{name.removeprefix('unhack, ')}` against the plain sealed one"
            rows.append((label, span(share, 2), "same run"))
        else:
            rate, cpu = cell["unhack_rate_ratio"], cell["unhack_cpu_ratio"]
            label = f"against {name.replace('_', '-')} {cell['version']}"
            text = f"{span(rate, 1)}x the rate, {span(cpu, 1)}x less CPU"
            rows.append((label, text, "same run"))
    return rows


def other_rows() -> list[tuple[str, str, str]]:
    """The figures of the smaller scripts, as far as they were run."""
    rows: list[tuple[str, str, str]] = []
    if found := load("cold_start"):
        text = f"{span(found['first_verdict_s'], 2)} s"
        rows.append(("first verdict after a cold `import unhack`", text, found["command"]))
    if found := load("straggler"):
        text = f"{span(found['later_s'], 3)} s later (allowed {found['allowed_s']:.3f} s)"
        rows.append(("15 honest verdicts beside one that loops", text, found["command"]))
    if found := load("scaling"):
        parts = [f"{row['items']:,}: {row['rate']:.0f}/s" for row in found["rows"]]
        last = found["rows"][-1]
        text = f"{'; '.join(parts)}; host {last['host_rss_mib']:.0f} MiB, worker "
        text += f"{max(last['worker_pss_mib']):.0f} MiB PSS"
        rows.append(("items in one stream", text, found["command"]))
    if found := load("fork_cost"):
        variants = found["variants"]
        text = "; ".join(f"{name}: {span(v['cpu_ms'], 2)} ms" for name, v in variants.items())
        rows.append(("CPU of one forked job", text, found["command"]))
    return rows + correctness_rows()


def correctness_rows() -> list[tuple[str, str, str]]:
    """What was compared, and how many differences there were."""
    rows: list[tuple[str, str, str]] = []
    if found := load("humaneval_fidelity"):
        text = f"{found['canonical_passed']} of {found['problems']} canonical solutions pass; "
        text += f"{found['mutants_judged_the_same']:,} of {found['mutants']:,} mutants judged the "
        text += f"same, at least {found['fewest_wrong_mutants_of_a_problem']} wrong ones a problem"
        rows.append(("HumanEval against its own harness", text, found["command"]))
    if found := load("reasoning_gym"):
        text = f"{found['data_sets']} data sets, {found['answers']:,} answers, "
        text += f"{found['differences']} differences from `score_answer`"
        rows.append(("reasoning-gym", text, found["command"]))
    if found := load("audit_quality"):
        rows.append(("audit of planted verifiers", found["summary"], found["command"]))
    if found := load("audit_peers"):
        rows += peer_rows(found)
    if found := load("audit_real"):
        counts = ", ".join(f"{count} {name}" for name, count in found["counts"].items())
        text = f"{found['run']} reward functions of released packages: {counts}"
        rows.append(("audit of what others wrote", text, found["command"]))
    if found := load("soak"):
        rows.append(
            ("mixed hostile jobs with random worker kills", found["summary"], found["command"])
        )
    return rows


def tournament_rows() -> list[tuple[str, str, str]]:
    """What the tournament's judge catches, and what kills do to it."""
    rows: list[tuple[str, str, str]] = []
    if found := load("tournament_corpus"):
        rows.append(("cheats before the judge", corpus_page.summary(found), found["command"]))
    for name in ("tournament_faults", "tournament_faults_interp"):
        if found := load(name):
            text = f"{found['kills']} kills of {found['tournaments']} tournaments "
            text += f"({found['contest']}): the records equal those of undisturbed ones"
            rows.append(("tournaments that are killed", text, found["command"]))
    return rows


def training_rows() -> list[tuple[str, str, str]]:
    """What training costs, and what the experiments found."""
    rows: list[tuple[str, str, str]] = []
    if found := load("train_throughput"):
        text = f"{found['parameters'] / 1000:.0f}k parameters: "
        text += span(found["trl_over_unhack"], 2) + "x less CPU a step"
        rows.append(("GRPO steps against TRL", text, found["command"]))
    if found := load("train_routing_cost"):
        cells = [
            f"{row['kind']} {row['rollout']['to_plain'][1]:.2f}"
            for row in found["rows"]
            if row["shape"].startswith("h64")
        ]
        text = "routed step / plain step: " + ", ".join(cells)
        rows.append(("gradient routing, CPU time", text, found["command"]))
    if found := load("train_data_parallel"):
        one, two = found["runs"]
        text = f"{one['parameters'] / 1e6:.0f}M parameters: gradients differ by at most "
        text += f"{found['largest_relative_difference']:.1g} (allowed {found['tolerance']:.0e}); "
        text += f"{one['tokens_per_second']:,} and {two['tokens_per_second']:,} tokens/s"
        command = "python benchmarks/train_data_parallel.py --device cuda --size large"
        rows.append((f"2 x {one['on']} against 1", text, command))
    return rows


def experiment_rows() -> list[tuple[str, str, str]]:
    """What the sweeps of gradient routing found, deployed: hack on held-out modes and solve."""
    rows: list[tuple[str, str, str]] = []
    plans = (
        "loopholes", "powered", "together", "smaller", "remembered", "rewarded", "recentred",
        "confirm", "quantile", "knobs", "large",
    )  # fmt: skip
    shown = ("real", "vanilla", "replay", "placebo", "shrink", "ceiling")
    for name in plans:
        if not (found := load(f"train_{name}")):
            continue
        arms = {arm["name"]: arm["deployed"] for arm in found["arms"]}
        cells = [
            f"{arm} {arms[arm]['hack_held_out']['mean']:.2f} / {arms[arm]['solve']['mean']:.2f}"
            for arm in shown
            if arm in arms
        ]
        counts = [arms[arm]["solve"]["count"] for arm in arms if arm in shown]
        runs = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
        [plan] = [path for path in PLANS.rglob("*.toml") if re.sub(r"^\d+-", "", path.stem) == name]
        sweep = f"unhack train sweep {plan.relative_to(PLANS.parent)} --out RUNS"
        if name == "powered":
            sweep = f"{sweep.replace(name, 'powered-controls')} && {sweep}"
        command = "make experiment-full" if name == "loopholes" else sweep
        what = f"held-out hack / solve, deployed, {runs} runs each ({name})"
        rows.append((what, ", ".join(cells), command))
    return rows


def peer_rows(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The same planted verifiers through each audit."""
    rows: list[tuple[str, str, str]] = []
    for column, cell in document["summary"]["all"].items():
        text = f"{cell['found']} of {cell['flawed']} flawed found, {cell['accused']} of "
        text += f"{cell['sound']} sound accused, {cell['no_verdict']} without a verdict, "
        text += f"{cell['unsupported']} not supported; {cell['median_s']:.1f} s "
        text += f"(p90 {cell['p90_s']:.1f}, longest {cell['max_s']:.1f})"
        source = "same run" if rows else document["command"]
        rows.append((f"the same planted verifiers: {column}", text, source))
    return rows


def table() -> str:
    """The Markdown between the markers."""
    speed = load("scoring_speed")
    rows = (speed_rows(speed) if speed else []) + other_rows()
    rows += tournament_rows() + training_rows() + experiment_rows()
    lines = ["| what | median (range) | command |", "|---|---|---|"]
    lines += [
        f"| {what} | {figure} | {'`' + command + '`' if ' ' in command else command} |"
        for what, figure, command in rows
    ]
    if speed:
        machine = speed["machine"]
        lines.append("")
        lines.append(
            f"Machine: {machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']} GiB, "
            f"Linux {machine['kernel']}, Python {machine['python']}; shared and noisy, so take the "
            "ratios, which come from interleaved runs, before the absolute numbers."
        )
    return "\n".join(lines)


def main() -> int:
    """Rewrite or check the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = README.read_text()
    pattern = re.compile(f"{BEGIN}.*{END}", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"README.md has no {BEGIN} … {END}")
    filled = pattern.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", text)
    pages = {
        module.PAGE: module.page(found)
        for module, name in ((audited_page, "audit_real"), (corpus_page, "tournament_corpus"))
        if (found := load(name))
    }
    if options.check:
        return int(filled != text or any(path.read_text() != new for path, new in pages.items()))
    README.write_text(filled)
    for path, new in pages.items():
        path.write_text(new)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
