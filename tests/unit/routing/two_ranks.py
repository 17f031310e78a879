"""Started twice by `torch.distributed.run`: one update of a batch that is spread over processes.

two_ranks.py SPLIT FOLDER DEVICE    # even, uneven, idle; cpu (gloo), cuda (nccl)
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
from tests.unit.routing.models import batch, gate, gradients, made
from torch import distributed

from unhack.routing import Router

CUTS = {"even": 6, "uneven": 4, "idle": 12}


def main() -> None:
    """Write this process's decision and gradients into `FOLDER/RANK.json`."""
    split, folder, kind = sys.argv[1:]
    rank = int(os.environ["RANK"])
    device = torch.device(kind, rank) if kind == "cuda" else torch.device(kind)
    if kind == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if kind == "cuda" else "gloo")
    quarantine, whole = made(device=device), batch().to(device)
    router = Router(quarantine, gate())
    rows = torch.arange(12, device=device)
    rows = rows[: CUTS[split]] if rank == 0 else rows[CUTS[split] :]
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
