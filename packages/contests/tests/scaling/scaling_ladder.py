"""A ladder of invented runs for tests: a law of powers, irregularities and noise. No training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from unhack_contests.scaling.runs.ladder import FORMAT, POOLS, digest

SIZES = (9_600, 19_000, 64_000, 125_000, 380_000, 940_000)
TOKENS = (262_144, 524_288, 1_048_576, 2_097_152)


def invented(seed: int = 0) -> dict[str, Any]:
    """The document of a ladder."""
    document: dict[str, Any] = {"format": FORMAT, "seed": seed, "plan": "invented", "families": []}
    for number, pool in enumerate(POOLS):
        rng = np.random.default_rng([seed, number])
        floor = 0.6 + 0.05 * number
        constant = floor * rng.uniform(1.1, 1.3)
        first, second = rng.uniform(0.15, 0.3), rng.uniform(0.3, 0.5)
        a, b = rng.uniform(0.3, 0.45, 2)
        runs: list[dict[str, Any]] = []
        for size in SIZES:
            for tokens in TOKENS:
                n, d = size / 1e5, tokens / 7e5
                loss = constant + first * n**-a + second * d**-b
                loss *= 1 + 0.01 * np.sin(np.log(n) + 2 * np.log(d))
                for again in (0, 1):
                    value = round(float(loss + rng.normal(0, 0.006)), 6)
                    curve = [[int(tokens * 2.0**-k), value * 1.05**k] for k in range(5, -1, -1)]
                    runs.append(
                        {
                            "width": 0, "depth": 0, "parameters": size, "tokens": tokens,
                            "flops": 6 * size * tokens, "seed": again, "loss": value,
                            "curve": curve,
                        }
                    )  # fmt: skip
        family = {"name": f"family-{number}", "pool": pool, "floor": floor, "floor_error": 0.002}
        document["families"].append({**family, "runs": runs})
    return document


def write_invented(path: Path, seed: int = 0) -> Path:
    """The ladder as a file."""
    document = invented(seed)
    path.write_text(json.dumps({**document, "sha256": digest(document)}))
    return path
