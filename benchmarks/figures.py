"""Fill the measurements page, the README's figures and chart, and the page of audited rewards.

They are made of `benchmarks/results/*.json`; no figure is typed by hand.

    python benchmarks/figures.py            # rewrite them
    python benchmarks/figures.py --check    # fail when they and the results differ
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import audited_page
import corpus_page
import measurements
import routing_chart
from measure import summary

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"
LINK = "docs/reference/measurements.md"
DEMO = README.parent / "src" / "unhack" / "cli" / "demo" / "training.json"


def headlines() -> list[str]:
    """The README's five figures, each with its terms and a link."""
    speed = summary("scoring_speed")["cells"]
    rate = speed["unhack"]["rate"]["median"]
    peers = [cell["unhack_rate_ratio"]["median"] for name, cell in speed.items() if "(" in name]
    audits = summary("audit_peers")["summary"]["all"]
    ours, others = audits["unhack"], [audits[name] for name in audits if name != "unhack"]
    found, accused = ([cell[key] for cell in others] for key in ("found", "accused"))
    cheats = summary("tournament_corpus")["summary"].rstrip(".")
    routing = measurements.deployed("train_powered")
    cells = {arm: f"{row['hack_held_out']:.2f}" for arm, row in routing.items()}
    return [
        f"- **Speed**: {rate:.0f} sealed verdicts a second on two workers (HumanEval/0, 2 cores), "
        f"{min(peers):.1f} to {max(peers):.0f} times the rate of seven peers in interleaved runs "
        f"([speed]({LINK}#speed)).",
        f"- **Hostile jobs**: {summary('soak')['summary']} ([hostile jobs]({LINK}#correctness)).",
        f"- **Audit recall**: {ours['found']} of {ours['flawed']} planted flawed verifiers proven "
        f"and {ours['accused']} of {ours['sound']} sound ones accused, by attacks that were tuned "
        f"on these (expect less elsewhere); two peers, in "
        f"{len(others)} settings, find {min(found)} to {max(found)} and accuse {min(accused)} to "
        f"{max(accused)} ([audit]({LINK}#audit)).",
        f"- **Cheats**: {cheats} ([tournament]({LINK}#tournament)).",
        f"- **Routing**: at 0.1M parameters, with two hack modes known and two held out, "
        f"held-out hacks of the deployed model fall from {cells['vanilla']} (plain training, "
        f"{routing['vanilla']['runs']} runs) to {cells['real']} ({routing['real']['runs']} runs), "
        f"a placebo direction leaves {cells['placebo']} ({routing['placebo']['runs']} runs), "
        f"and the solve rate is {routing['real']['solve']:.2f} against "
        f"{routing['vanilla']['solve']:.2f}; at 55M parameters a placebo direction, and dropping "
        f"what the gate picks, did as well in three seeds ([routing]({LINK}#routing)).",
    ]


def recording() -> str:
    """The experiment that `unhack demo` shows."""
    found = summary("train_powered")
    keys = ("runs", "hack_held_out", "hack_held_out_sem", "solve", "solve_sem")
    arms = {
        arm: {key: row[key] for key in keys}
        for arm, row in measurements.deployed("train_powered").items()
        if arm in routing_chart.ARMS
    }
    runs = sum(row["runs"] for row in arms.values())
    told = {
        "about": f"{runs} recorded training runs of a policy of 0.1M parameters on problems with "
        "four loopholes. A weak detector knows two of them; the other two are held out. Rollouts "
        "whose gradient points along the hack direction train a quarantine block, which is "
        "deleted before the model is deployed.",
        "limits": "One world, four loopholes, models of 0.1M parameters. At 55M parameters, in "
        "three seeds of one base model, a placebo direction did as well, and so did dropping the "
        "rollouts that the gate picks.",
        "command": "unhack train sweep experiments/powered-controls.toml --out runs/powered\n"
        "unhack train sweep experiments/powered.toml --out runs/powered\n"
        "unhack train report runs/powered --html report.html",
        "machine": found["machine"],
        "known": found["known"],
        "held_out": found["held_out"],
        "arms": arms,
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def pages() -> dict[Path, str]:
    """Every file that the results fill, with the text that it must have."""
    text = README.read_text(encoding="utf-8")
    pattern = re.compile(f"{BEGIN}.*{END}", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"README.md has no {BEGIN} … {END}")
    figures = "\n".join([BEGIN, *headlines(), END])
    return {
        README: pattern.sub(lambda _: figures, text),
        measurements.PAGE: measurements.page(),
        audited_page.PAGE: audited_page.page(summary("audit_real")),
        DEMO: recording(),
        routing_chart.PICTURE: routing_chart.picture(measurements.deployed("train_powered")),
    }


def main() -> int:
    """Rewrite or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale: list[str] = []
    for path, text in pages().items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not options.check:
            path.write_text(text, encoding="utf-8")
    if options.check and stale:
        print(f"not as the results: {', '.join(stale)}; run python benchmarks/figures.py")
    cheats = corpus_page.PAGE.read_text(encoding="utf-8")
    known = corpus_page.holds(summary("tournament_corpus"), cheats)
    if not known:
        print(f"{corpus_page.PAGE.name} is of another run than results/tournament_corpus.json")
    return int((options.check and bool(stale)) or not known)


if __name__ == "__main__":
    raise SystemExit(main())
