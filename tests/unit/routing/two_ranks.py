"""Started twice by `torch.distributed.run`: one update of a batch that is spread over processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from tests.unit.routing.models import batch, gate, gradients, made
from torch import distributed

from unhack.routing import Router

CUTS = {"even": 6, "uneven": 4, "idle": 12}


def main() -> None:
    """Write this process's decision and gradients into `FOLDER/RANK.json`."""
    split, folder = sys.argv[1:]
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    quarantine, whole = made(), batch()
    router = Router(quarantine, gate())
    rows = torch.arange(12)[: CUTS[split]] if rank == 0 else torch.arange(12)[CUTS[split] :]
    part = whole.part(rows)
    if len(rows):
        with router.record(part.advantages_B, part.knob_B, group_B=part.group_B):
            # The mean over processes is taken of gradients, so each counts its part twice.
            part.losses_B(quarantine.model, count=6).sum().backward()
    log = router.route()
    found = {
        "fractions": list(log.fractions),
        "gradients": [item.flatten().tolist() for item in gradients(quarantine)],
    }
    Path(folder, f"{rank}.json").write_text(json.dumps(found))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
