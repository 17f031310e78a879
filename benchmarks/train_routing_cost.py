"""What routing adds to a training step: a plain adapter against capture, cosine and split.

    .venv/bin/python benchmarks/train_routing_cost.py [--device cuda --precision bfloat16]

A step is a teacher-forced forward, a policy-gradient loss, the backward pass and AdamW.

- plain: the deployed block alone, gradients by autograd;
- autograd: the same in the shortest torch code, as a check that `plain` is no straw man;
- captured: the deployed block alone, by a captured pass and the sum of all rollouts;
- rollout: both blocks, the first half of the rollouts with the quarantine on, every rollout's
  gradient captured, its cosine with a direction over all modules, a band, both weighted sums;
- token: the same with a cosine and a fraction for each token.

The variants take turns, so that a loaded machine slows all alike; a figure is the median over
steps of a turn's own ratio, in CPU seconds (on a GPU: seconds of synchronised wall time). The goal
is a ratio of `rollout` to `plain` of at most 1.15.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from measure import save
from unhack.models.config import Config
from unhack.models.qwen3 import Qwen3
from unhack.training.adapters import AttachedAdapters, attach
from unhack.training.config.settings import AdapterSettings

KINDS = ("svd", "lora_frozen_b", "lora_split")
VOCAB = 64


@dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    batch: int
    length: int

    @property
    def name(self) -> str:
        return f"h{self.hidden} L{self.layers} B{self.batch} T{self.length}"

    def model(self) -> Qwen3:
        torch.manual_seed(0)
        size = 16 if self.hidden < 512 else 64
        heads = self.hidden // size
        return Qwen3(
            Config(
                vocab=VOCAB,
                hidden=self.hidden,
                layers=self.layers,
                heads=heads,
                kv_heads=heads // 2,
                head_dim=size,
                ffn=3 * self.hidden,
            )
        )


SHAPES = (Shape(64, 2, 64, 44), Shape(128, 4, 32, 96))
GPU_SHAPES = (Shape(512, 12, 64, 128), Shape(1024, 16, 32, 256))


class Data:
    """Tokens, the completion mask and advantages of a batch."""

    def __init__(self, shape: Shape, device: str) -> None:
        generator = torch.Generator().manual_seed(1)
        size = (shape.batch, shape.length)
        self.tokens_B_T = torch.randint(0, VOCAB, size, generator=generator).to(device)
        places_T = torch.arange(shape.length)
        self.mask_B_T = (places_T >= shape.length // 2).expand(size).to(device)
        self.advantages_B = torch.randn(shape.batch, generator=generator).to(device)
        self.knob_B = (torch.arange(shape.batch) < shape.batch // 2).to(device)

    def loss(self, model: nn.Module) -> Tensor:
        logits = model(self.tokens_B_T)[:, :-1].float()
        nll_BT = functional.cross_entropy(
            logits.flatten(0, 1), self.tokens_B_T[:, 1:].flatten(), reduction="none"
        )
        nll_B_T = nll_BT.view(self.tokens_B_T.shape[0], -1) * self.mask_B_T[:, 1:]
        return (nll_B_T.sum(1) * self.advantages_B).sum() / self.mask_B_T.sum()


def _optimiser(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=1e-3, foreach=True)


def plain(model: nn.Module, adapters: AttachedAdapters, data: Data) -> Callable[[], None]:
    """The vanilla arm's step."""
    chosen = [item for items in adapters.parameters("deployed").values() for item in items]
    optimiser = _optimiser(chosen)

    def step() -> None:
        with adapters.knob(False):
            data.loss(model).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def captured(model: nn.Module, adapters: AttachedAdapters, data: Data) -> Callable[[], None]:
    """The fastest step without routing that this package has."""
    chosen = [item for items in adapters.parameters("deployed").values() for item in items]
    optimiser = _optimiser(chosen)
    ones = torch.ones(data.tokens_B_T.shape[0], 1, 1, device=data.tokens_B_T.device)

    def step() -> None:
        with adapters.capture(len(data.tokens_B_T)) as gradients:
            with adapters.knob(False):
                loss = data.loss(model)
            loss.backward()
        adapters.assign(gradients.sums(ones, block="deployed"), {})
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def routed(
    model: nn.Module, adapters: AttachedAdapters, data: Data, *, tokens: bool
) -> Callable[[], None]:
    """Capture, cosine, band, split, both blocks."""
    deployed, quarantine = adapters.parameters("deployed"), adapters.parameters("quarantine")
    optimiser = _optimiser(
        [item for block in (deployed, quarantine) for items in block.values() for item in items]
    )
    generator = torch.Generator().manual_seed(2)
    direction: dict[str, Tensor] = {}
    for name, items in deployed.items():
        vector = torch.randn(sum(item.numel() for item in items), generator=generator)
        direction[name] = (vector / vector.norm()).to(items[0])

    def step() -> None:
        with adapters.capture(len(data.tokens_B_T), tokens=tokens) as gradients:
            with adapters.knob(data.knob_B):
                loss = data.loss(model)
            loss.backward()
        if tokens:
            dots, norms = gradients.dots_B_T_M(direction), gradients.norms_B_T_M()
        else:
            dots, norms = gradients.dots_B_M(direction), gradients.norms_B_M()
        size = torch.linalg.vector_norm(norms, dim=-1, keepdim=True)
        cosines = dots.sum(-1, keepdim=True) / size.clamp(min=1e-20) / len(direction) ** 0.5
        fractions = ((cosines + 0.05) / 0.1).clamp(0, 1)
        fractions = fractions if tokens else fractions.unsqueeze(1)
        adapters.assign(
            gradients.sums(1 - fractions, block="deployed"),
            gradients.sums(fractions, block="quarantine"),
        )
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


class Shortest(nn.Module):
    """The deployed block in the shortest torch code."""

    def __init__(self, linear: Any, kind: str) -> None:
        super().__init__()
        self.weight, self.kind = linear.weight, kind
        deployed, basis = linear.deployed, linear.basis
        self.own = nn.ParameterList([nn.Parameter(item.detach()) for item in deployed.trained()])
        self.fixed = list(basis.buffers()) + list(deployed.buffers())

    def forward(self, x: Tensor) -> Tensor:
        y = functional.linear(x, self.weight)
        if self.kind == "svd":
            left, right, _ = self.fixed
            return y + functional.linear(functional.linear(x, right) * self.own[0], left)
        if self.kind == "lora_frozen_b":
            return y + functional.linear(functional.linear(x, self.own[0]), self.fixed[0])
        start_a, start_b = self.fixed
        read, out = start_a + self.own[0], start_b + self.own[1]
        start = functional.linear(functional.linear(x, start_a), start_b)
        return y + functional.linear(functional.linear(x, read), out) - start


def shortest(model: nn.Module, adapters: AttachedAdapters, data: Data) -> Callable[[], None]:
    chosen: list[nn.Parameter] = []
    for name in adapters.names:
        path, _, last = name.rpartition(".")
        module = Shortest(model.get_submodule(name), adapters.kind)
        setattr(model.get_submodule(path), last, module)
        chosen += list(module.own)
    optimiser = _optimiser(chosen)

    def step() -> None:
        data.loss(model).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def disagreement(model: nn.Module, adapters: AttachedAdapters, data: Data) -> float:
    """How far the captured sums are from autograd's gradient of the deployed block: norm of the
    difference over norm."""
    with adapters.knob(data.knob_B):
        data.loss(model).backward()
    wanted: dict[str, Tensor] = {}
    for name, items in adapters.parameters("deployed").items():
        wanted[name] = torch.cat([item.grad.flatten() for item in items if item.grad is not None])
        for item in (*items, *adapters.parameters("quarantine")[name]):
            item.grad = None
    with adapters.capture(len(data.tokens_B_T), tokens=False) as gradients:
        with adapters.knob(data.knob_B):
            loss = data.loss(model)
        loss.backward()
    ones = torch.ones(data.tokens_B_T.shape[0], 1, 1, device=data.tokens_B_T.device)
    found = gradients.sums(ones, block="deployed")
    gaps = [(found[name] - wanted[name]).norm() for name in wanted]
    whole = [item.norm() for item in wanted.values()]
    return float(torch.stack(gaps).norm() / torch.stack(whole).norm())


def measured(
    shape: Shape, kind: str, *, rounds: int, device: str, dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """Median step times of the variants, and the ratios of their turns."""
    data, gap = Data(shape, device), 0.0
    steps: dict[str, Callable[[], None]] = {}
    for name in ("plain", "autograd", "captured", "rollout", "token"):
        model = shape.model().to(device, dtype)
        both = name in {"rollout", "token"}
        settings = AdapterSettings.model_validate({"kind": kind})
        adapters = attach(model, settings, seed=0, quarantine=both)
        if name == "plain":
            steps[name] = plain(model, adapters, data)
        elif name == "autograd":
            steps[name] = shortest(model, adapters, data)
        elif name == "captured":
            steps[name] = captured(model, adapters, data)
        else:
            gap = disagreement(model, adapters, data)
            steps[name] = routed(model, adapters, data, tokens=name == "token")
    clock = time.process_time if device == "cpu" else time.perf_counter
    taken: dict[str, list[float]] = {name: [] for name in steps}
    order = list(steps)
    for number in range(-3, rounds):
        order = order[1:] + order[:1]
        for name in order:
            started = clock()
            steps[name]()
            if device != "cpu":
                torch.cuda.synchronize()
            if number >= 0:
                taken[name].append(clock() - started)
    figures: dict[str, Any] = {"shape": shape.name, "kind": kind, "rounds": rounds}
    figures["disagreement"] = gap
    for name, seconds in taken.items():
        quarters = statistics.quantiles([item * 1e3 for item in seconds], n=4)
        ratios = statistics.quantiles(
            [one / other for one, other in zip(seconds, taken["plain"], strict=True)], n=4
        )
        figures[name] = {
            "ms": [round(item, 2) for item in quarters],
            "to_plain": [round(item, 3) for item in ratios],
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument(
        "--rounds",
        type=int,
        default=15,
        help="of the larger shape; three times as many of the smaller",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    shapes = SHAPES if options.device == "cpu" else GPU_SHAPES
    rows: list[dict[str, Any]] = []
    for shape in shapes:
        for kind in KINDS:
            row = measured(
                shape,
                kind,
                rounds=options.rounds * (3 if shape is shapes[0] else 1),
                device=options.device,
                dtype=getattr(torch, options.precision),
            )
            rows.append(row)
            parts = [f"{name} {row[name]['ms'][1]:7.1f} ms" for name in ("plain", "autograd")]
            parts += [
                f"{name} {row[name]['to_plain'][1]:.3f} [{row[name]['to_plain'][0]:.3f} … "
                f"{row[name]['to_plain'][2]:.3f}]"
                for name in ("captured", "rollout", "token")
            ]
            print(f"{shape.name:18} {kind:14} " + "  ".join(parts), flush=True)
    suffix = "" if options.device == "cpu" else f"_{options.device}_{options.precision}"
    worst = max(row["rollout"]["to_plain"][1] for row in rows)
    print(f"largest ratio of a routed step to a plain one: {worst:.3f} (goal: at most 1.15)")
    save(
        f"train_routing_cost{suffix}",
        f"python benchmarks/train_routing_cost.py --device {options.device}"
        f" --precision {options.precision} --rounds {options.rounds}",
        {
            "unit": "CPU milliseconds" if options.device == "cpu" else "wall milliseconds",
            "quartiles": "25 %, 50 %, 75 %",
            "rank": AdapterSettings().rank,
            "torch": torch.__version__,
            "largest_ratio": worst,
            "rows": rows,
        },
    )


if __name__ == "__main__":
    main()
