"""The submission's first stage, inside: a model that transformers loads, and `compress`.

    python stage_one.py

reads its plan (JSON) from the socket at descriptor 3, and answers `R` or `E` with what went wrong.
Nothing here is trusted: whatever it answers, the artifact is what the judge finds in the folder.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from typing import Any

PEER = 3
_MAX_PACKET = 1 << 20


def main() -> None:
    """Load the model, hand it to the submission, say how that went."""
    with socket.socket(fileno=PEER) as peer:
        plan = json.loads(peer.recv(_MAX_PACKET))
        try:
            _compress(plan)
        except BaseException as error:
            peer.send(f"E{type(error).__name__}: {error}".encode(errors="replace")[:2000])
            return
        peer.send(b"R")
        peer.recv(1)  # the judge reads the files, and ends this process


def _compress(plan: dict[str, Any]) -> None:
    numpy: Any = importlib.import_module("numpy")
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    transformers.utils.logging.disable_progress_bar()
    if plan["threads"]:
        torch.set_num_threads(plan["threads"])
    torch.manual_seed(0)
    if plan["device"] != "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
    loader = transformers.AutoModelForCausalLM
    model = loader.from_pretrained(plan["model"], dtype=getattr(torch, plan["dtype"]))
    model = model.to(plan["device"]).eval()
    tokens = numpy.load(plan["calibration"])
    calibration = torch.from_numpy(tokens.astype(numpy.int64)).to(plan["device"])
    os.makedirs(plan["out"], exist_ok=True)
    sys.path.insert(0, plan["program"])
    importlib.import_module("solution").compress(model, calibration, plan["out"])
    if plan["device"] != "cpu":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
