"""Fill the measurements page, the README's figures and chart; check the pages of long runs.

They are made of `benchmarks/results/*.json`; no figure is typed by hand.

    python benchmarks/figures.py            # rewrite them
    python benchmarks/figures.py --check    # fail when they and the results differ
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import audit_scores
import audited_page
import corpus_page
import matrix_pictures
import matrix_told
import measurements
from measure import host, summary

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"
LINK = "docs/reference/measurements.md"
BENCHMARK = README.parent / "docs" / "how-to" / "audit-benchmark.md"
SCORES = "<!-- scores:begin -->", "<!-- scores:end -->"
ROUTING = README.parent / "docs" / "explanation" / "routing-results.md"
SHOWN = ("vanilla", "replay", "placebo", "real", "ceiling")
"""The arms of the demo's recording."""
DEMO = README.parent / "src" / "unhack" / "cli" / "demo" / "training.json"


def headlines() -> list[str]:
    """The README's five figures, each with its terms and a link."""
    speed = summary("scoring_speed")["cells"]
    rate = speed["unhack"]["rate"]["median"]
    peers = [cell["unhack_rate_ratio"]["median"] for name, cell in speed.items() if "(" in name]
    audits = summary("audit_peers")["summary"]["all"]
    ours, others = audits["unhack"], [audits[name] for name in audits if name != "unhack"]
    hacks, lenient, accused = (
        f"{ours[key][0]} of {ours[key][1]}" for key in ("hacks", "false_accepts", "accused")
    )
    cheats = summary("tournament_corpus")["summary"].rstrip(".")
    return [
        f"- **Speed**: {rate:.0f} sealed verdicts a second on two workers (HumanEval/0, 2 cores), "
        f"{min(peers):.1f} to {max(peers):.0f} times the rate of seven peers in interleaved runs "
        f"([speed]({LINK}#speed)).",
        f"- **Hostile jobs**: {summary('soak')['summary']} ([hostile jobs]({LINK}#correctness)).",
        f"- **Audit recall**: {hacks} planted hacks and {lenient} false accepts found, {accused} "
        f"sound verifiers accused, by attacks that were tuned on these "
        f"(expect less elsewhere); two peers, in {len(others)} settings, find "
        f"{span_of(others, 'hacks')} of the hacks and accuse {span_of(others, 'accused')} of the "
        f"sound ones ([audit]({LINK}#audit)).",
        f"- **Cheats**: {cheats} ([tournament]({LINK}#tournament)).",
        f"- **Routing**: {routing_line()} ([routing]({LINK}#routing)).",
    ]


def routing_line() -> str:
    """What routing does at which size: of the registered matrix where it is whole, else of the
    largest plan, with the replication that stands beside either."""
    beside = "in an independent replication at 55M parameters (three seeds of one base model) "
    beside += "a placebo direction, and dropping what the gate picks, did as well"
    if summary("train_matrix"):
        arms = measurements.deployed("train_matrix")
        cells = {arm: f"{row['held_out']:.2f}" for arm, row in arms.items()}
        bases, runs, leaks = measurements.fresh_bases()
        fresh = f"{sum(bases) / len(bases):.2f} on {len(bases)} fresh base models, from "
        fresh += f"{min(bases):.2f} to {max(bases):.2f}, {leaks} of {runs} runs above 0.05"
        said = (
            f"at 0.1M parameters, over 14 choices of two known hack modes of six with two seeds on "
            f"two base models each, held-out hacks of the deployed model are {cells['vanilla']} "
            f"after plain training, {cells['real']} routed by the hack direction ({fresh}), "
            f"{cells['placebo_states']} by a placebo direction and {cells['filter']} where the "
            f"same gate drops instead, solved {arms['real']['solve']:.2f} routed and "
            f"{arms['vanilla']['solve']:.2f} plain"
        )
        return f"{said}; {beside}"
    arms = measurements.deployed("train_powered")
    cells = {arm: f"{row['hack_held_out']:.2f}" for arm, row in arms.items()}
    return (
        f"at 0.1M parameters, with two hack modes known and two held out (the ones that the gate "
        f"was chosen on), held-out hacks of the deployed model fall from {cells['vanilla']} (plain "
        f"training, {arms['vanilla']['runs']} runs) to {cells['real']} ({arms['real']['runs']} "
        f"runs), a placebo direction leaves {cells['placebo']} ({arms['placebo']['runs']} runs), "
        f"and the solve rate is {arms['real']['solve']:.2f} against "
        f"{arms['vanilla']['solve']:.2f}; {beside}"
    )


def span_of(cells: list[dict[str, Any]], key: str) -> str:
    """The smallest and the largest share of some counts, in per cent."""
    shares = [cell[key][0] / cell[key][1] for cell in cells if cell[key][1]]
    return f"{min(shares):.0%} to {max(shares):.0%}"


def recording() -> str:
    """The experiment that `unhack demo` shows."""
    found = summary("train_powered")
    keys = ("runs", "hack_held_out", "hack_held_out_sem", "solve", "solve_sem")
    arms = {
        arm: {key: row[key] for key in keys}
        for arm, row in measurements.deployed("train_powered").items()
        if arm in SHOWN
    }
    runs = sum(row["runs"] for row in arms.values())
    told = {
        "about": f"{runs} recorded training runs of a policy of 0.1M parameters on problems with "
        "four loopholes. A weak detector knows two of them; the other two are held out. Rollouts "
        "whose gradient points along the hack direction train a quarantine block, which is "
        "deleted before the model is deployed.",
        "limits": "One world, models of 0.1M parameters, the four loopholes that the gate was "
        "chosen on. Over 14 choices of known loopholes a placebo direction did nearly as well. At "
        "55M parameters, in three seeds of one base model, it did as well, and so did dropping the "
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


def filled(path: Path, begin: str, end: str, *, lines: list[str], text: str = "") -> str:
    """The text of a page, or `text` in its place, with these lines between its two marks."""
    text = text or path.read_text(encoding="utf-8")
    pattern = re.compile(f"{begin}.*{end}", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"{path.name} has no {begin} … {end}")
    return pattern.sub(lambda _: "\n".join([begin, *lines, end]), text)


def routing_results() -> str:
    """The page of results with what the record of the matrix fills."""
    text = ""
    for name, lines in matrix_told.blocks().items():
        marks = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        text = filled(ROUTING, *marks, lines=["", *lines, ""], text=text)
    return text


def pages() -> dict[Path, str]:
    """Every file that the results fill, with the text that it must have."""
    peers = summary("audit_peers")
    scores = ["", audit_scores.markdown(peers, host(peers["machine"])), ""]
    return {
        README: filled(README, BEGIN, END, lines=headlines()),
        BENCHMARK: filled(BENCHMARK, *SCORES, lines=scores),
        ROUTING: routing_results(),
        measurements.PAGE: measurements.page(),
        DEMO: recording(),
        **matrix_pictures.pictures(),
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
    audited = audited_page.PAGE.read_text(encoding="utf-8")
    told = audited_page.holds(summary("audit_real"), audited)
    if not told:
        print(f"{audited_page.PAGE.name} is of another run than results/audit_real.json")
    return int((options.check and bool(stale)) or not known or not told)


if __name__ == "__main__":
    raise SystemExit(main())
