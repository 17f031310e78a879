"""Kernels and looks at the device of one update of TRL's trainer, plain and routed, by phase.

    .venv/bin/python benchmarks/routing_launches.py [plain lora routed]

On a GPU a small model's step takes as long as its kernels take to be launched, so their number says
what it costs where no GPU is. Counted on the CPU, under bfloat16 autocast: every operator that
would launch a kernel (views and empty tensors launch none), and every value that is asked for by
the CPU. The models and trainers are those of `routing_library.py` with 14 layers, 64 rollouts in
two micro-batches and 8 tokens for each; width does not count. Two updates are shown: the first
extracts the directions, the second does not.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

import accelerate
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from trl import GRPOTrainer

import routing_library as library
from unhack.routing.router import Router
from unhack.training.routing.gates import cosine

SIZE = library.Size(hidden=64, layers=14, vocabulary=512, batch=32, accumulated=2, tokens=8)
NO_KERNEL = frozenset(
    {
        "view", "_unsafe_view", "t", "transpose", "expand", "slice", "select", "split",
        "split_with_sizes", "unsqueeze", "squeeze", "detach", "alias", "permute", "unbind",
        "_reshape_alias", "as_strided", "lift_fresh", "chunk", "is_pinned", "empty", "new_empty",
        "empty_like", "empty_strided", "new_empty_strided", "reshape", "view_as", "diagonal",
    }
)  # fmt: skip
LOOKS = frozenset({"_local_scalar_dense", "nonzero"})


class Counts(TorchDispatchMode):
    """Counts while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.phases = ["rest"]
        self.kernels, self.looks = Counter[str](), Counter[str]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.partition("::")[2]
        if name in LOOKS:
            self.looks[self.phases[-1]] += 1
        elif name.rstrip("_") not in NO_KERNEL and name not in NO_KERNEL:
            self.kernels[self.phases[-1]] += 1
        return func(*args, **(kwargs or {}))

    def lists(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """A method that copies a tensor to the CPU, counted."""

        def counted(*args: Any, **named: Any) -> Any:
            self.looks[self.phases[-1]] += 1
            return ask(*args, **named)

        return counted

    def phase(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose kernels are those of a phase."""

        @functools.wraps(work)
        def within(*args: Any, **named: Any) -> Any:
            self.phases.append(name)
            try:
                return work(*args, **named)
            finally:
                self.phases.pop()

        return within


@contextlib.contextmanager
def watched(counts: Counts) -> Generator[None, None, None]:
    """Within: the phases are told apart, and lists count as looks."""
    places: list[tuple[Any, str, Callable[..., Any]]] = [
        (torch.Tensor, "tolist", counts.lists(torch.Tensor.tolist)),
        (torch.Tensor, "cpu", counts.lists(torch.Tensor.cpu)),
    ]
    named = (
        (GRPOTrainer, "_generate_single_turn", "generate"), (GRPOTrainer, "_compute_loss", "loss"),
        (accelerate.Accelerator, "backward", "backward"), (Router, "route", "route"),
        (cosine, "extract", "extract"),
    )  # fmt: skip
    places += [(owner, name, counts.phase(to, getattr(owner, name))) for owner, name, to in named]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for owner, name, made in places:
        setattr(owner, name, made)
    try:
        yield
    finally:
        for owner, name, made in before:
            setattr(owner, name, made)


class Notes(library.Clock):
    """Notes the counts of each update."""

    def __init__(self, counts: Counts) -> None:
        super().__init__("cpu")
        self.counts, self.lines = counts, list[str]()

    def on_step_begin(self, *rest: Any, **named: Any) -> None:
        self.counts.kernels.clear()
        self.counts.looks.clear()

    def on_step_end(self, *rest: Any, **named: Any) -> None:
        self.lines.append(f"{dict(self.counts.kernels)}, looks {dict(self.counts.looks)}")


def main() -> None:
    """Print the counts of two updates for each arm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arms", nargs="*", default=["plain", "routed"])
    library.UPDATES = 1
    asked = argparse.Namespace(device="cpu", checkpointing=False, bf16=True)
    for arm in parser.parse_args().arms:
        counts = Counts()
        notes = Notes(counts)
        with tempfile.TemporaryDirectory() as folder, watched(counts), counts:
            library.trained(arm, SIZE, asked, folder, clock=notes)
        for number, line in enumerate(notes.lines):
            print(f"{arm}, update {number}: kernels {line}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
