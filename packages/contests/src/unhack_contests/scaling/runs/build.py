"""Build a ladder: `python -m unhack_contests.scaling.runs.build --out FILE --seed N`.

Trains every run of every family and writes one JSON file: a manifest with what was trained, the
curve and the final validation loss of each run, the entropy floor of each family's text, and a
hash over all of it. Resumable: finished stacks stand in `FILE.N.part` for family N, which is
replaced in one step after each; the same command goes on from there. `--family N` trains one
family only, so that several processes can share the work; the last call, without it, joins them.
The file holds the seed, so whoever has the file has everything: keep a private ladder outside of
every workspace.

Covered: four families, one for each pool, of different text, alphabet, shape and schedule.
Not covered: bit-equal losses on different devices.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unhack.tournament.kit import UsageError
from unhack_contests.scaling.runs.ladder import FORMAT, POOLS, digest
from unhack_contests.scaling.runs.source import SampledText, TextStyle, make_source, write_text


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """How large a ladder is."""

    widths: tuple[int, ...]
    budgets: tuple[int, ...]
    """Tokens (bytes) of a run."""
    seeds: int
    text_bytes: int
    held_windows: int


PLANS = {
    "smoke": LadderPlan((8, 16), (65_536, 131_072), 2, 200_000, 32),
    "default": LadderPlan((16, 24, 40, 56, 88, 128), (262_144, 524_288, 1_048_576, 2_097_152), 2,
                    8_000_000, 2_048),
    "large": LadderPlan((16, 32, 64, 128, 256, 512),
                  (1_048_576, 4_194_304, 16_777_216, 67_108_864), 2, 200_000_000, 8_192),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FamilyKind:
    """The traits by which a family differs from the others."""

    style: TextStyle
    deep: int
    """Layers at the smallest width; one more for every doubling of it where `grows`."""
    grows: bool
    peak: float
    schedule: str


KINDS = (
    FamilyKind(TextStyle(), 2, True, 4e-3, "cosine"),
    FamilyKind(
        TextStyle(classes=64, components=2, repeat=0.05, letters=20), 2, False, 4e-3, "cosine"
    ),
    FamilyKind(
        TextStyle(classes=32, words_per_class=80, lag=5, letters=30), 3, True, 3e-3, "linear"
    ),
    FamilyKind(TextStyle(concentration=0.12, repeat=0.2, zipf=1.15), 2, True, 5e-3, "plateau"),
)


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="scaling.build", description="Train a ladder of runs.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True, help="keep it secret for a private one")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--plan", choices=sorted(PLANS), default="default")
    parser.add_argument("--family", type=int, choices=range(len(KINDS)), help="only this one")
    given = parser.parse_args(arguments)
    head = {"format": FORMAT, "seed": given.seed, "plan": given.plan}
    build(given.out, head=head, device=given.device, only=given.family)
    return 0


def build(out: Path, *, head: Mapping[str, Any], device: str, only: int | None = None) -> None:
    """Train what is missing; with all families write the ladder.

    Raises UsageError for a part of another build.
    """
    numbers = range(len(KINDS)) if only is None else (only,)
    parts = {number: out.with_name(f"{out.name}.{number}.part") for number in numbers}
    families = [_family(number, head=head, part=parts[number], device=device) for number in numbers]
    if only is None:
        document: dict[str, Any] = {**head, "families": families}
        _write(out, {**document, "sha256": digest(document)})
        for part in parts.values():
            part.unlink()


def _family(number: int, *, head: Mapping[str, Any], part: Path, device: str) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(part.read_text()) if part.exists() else {**head, "done": {}}
    if any(state.get(key) != value for key, value in head.items()):
        raise UsageError(f"{part} belongs to another build; remove it or choose another --out")
    plan, kind = PLANS[state["plan"]], KINDS[number]
    secret = _secret(state["seed"], number, 0)
    source = make_source(secret, kind.style)
    held = write_text(source, size=plan.held_windows * 129, seed=secret + 1)
    text: SampledText | None = None
    runs: list[dict[str, Any]] = []
    for place in range(len(plan.widths)):
        key = str(place)
        if key not in state["done"]:
            text = text or write_text(source, size=plan.text_bytes, seed=secret + 2)
            started = time.process_time()
            state["done"][key] = _stack(state, number, place, data=(text, held), device=device)
            _write(part, state)
            spent = time.process_time() - started
            sys.stderr.write(f"family {number} width {plan.widths[place]}: {spent:.0f} CPU-s\n")
        runs += state["done"][key]
    return {
        "name": f"family-{number}",
        "pool": POOLS[number],
        "recipe": {"style": asdict(kind.style), "deep": kind.deep, "grows": kind.grows,
                   "peak": kind.peak, "schedule": kind.schedule},
        "floor": held.floor,
        "floor_error": held.floor_error,
        "held_sha256": hashlib.sha256(held.data.tobytes()).hexdigest(),
        "runs": runs,
    }  # fmt: skip


def _stack(
    state: Mapping[str, Any],
    number: int,
    place: int,
    *,
    data: tuple[SampledText, SampledText],
    device: str,
) -> list[dict[str, Any]]:
    from unhack_contests.scaling.runs import training  # torch, only for a build

    plan, kind = PLANS[state["plan"]], KINDS[number]
    width = plan.widths[place]
    grown = int(np.log2(width / plan.widths[0])) if kind.grows else 0
    shape = training.ModelShape(width, kind.deep + grown)
    recipe = training.LadderRecipe(peak=kind.peak, schedule=kind.schedule)
    each = [(tokens, again) for tokens in plan.budgets for again in range(plan.seeds)]
    held = data[1].data.reshape(-1, 129)
    found = training.train(
        shape,
        recipe,
        steps=[tokens // (training.BATCH * training.WINDOW) for tokens, _ in each],
        seeds=[_secret(state["seed"], number, 1, place, *run) for run in each],
        data=(data[0].data, held),
        device=device,
    )
    return [
        {
            "width": width, "depth": shape.depth, "parameters": shape.parameters,
            "tokens": tokens, "flops": 6 * shape.parameters * tokens, "seed": again,
            "loss": round(run.loss, 6), "curve": [list(point) for point in run.curve],
        }
        for (tokens, again), run in zip(each, found, strict=True)
    ]  # fmt: skip


def _secret(*parts: int) -> int:
    words = np.random.SeedSequence(list(parts)).generate_state(2)
    return int(words[0]) << 16 | int(words[1]) >> 16


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Replace a file in one step."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(json.dumps(document, indent=1) + "\n")
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
