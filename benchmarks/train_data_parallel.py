"""Gradients of several ranks on recorded rollouts against one rank's, and tokens per second.

    python benchmarks/train_data_parallel.py [--device cuda] [--size large] [--ranks 2] [--save]

One process samples rollouts of a randomly initialised Qwen3 with adapters (mixed prompt lengths,
half of the prompts with the quarantine off), writes them down, and takes the routed gradients of
both blocks. Then `torchrun` starts the ranks: each takes the gradients of its share of the same
rollouts, they are summed (gloo on the CPU, nccl on CUDA), and the leader compares. After one
optimiser step the ranks' weights must have one checksum. Last, both run whole steps; every rank has
as many prompts as the single process, and tokens per second are those of all ranks.

`large` has 53M parameters, `small` 28k. The exit code is 1 where a gradient differs by more than
the tolerance (relative to the norm of the module's gradient) or the weights differ. Prints the
figures, writes JSON to $OUT/train_data_parallel.json where OUT is set, and with `--save` to
`results/`. Needs torch and numpy; no network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
sys.path[:0] = [str(SOURCE), str(HERE)]

from measure import host, save  # noqa: E402

TOLERANCE = {"cpu": 1e-5, "cuda": 1e-4}
"""Of float32 sums that are made in another order, relative to a gradient's norm."""
SHAPES = {
    "small": {"hidden": 32, "layers": 2, "heads": 4, "head_dim": 8, "ffn": 96},
    "large": {"hidden": 640, "layers": 10, "heads": 10, "head_dim": 64, "ffn": 1920},
}
BATCHES = {"small": (8, 4, 12), "large": (32, 16, 64)}
"""Prompts, completions of each, longest completion."""
VOCABULARY, PAD, STOP = 96, 0, 1


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs."""

    ranks: Any
    policy: Any
    size: str
    folder: Path


def build(size: str, device: str) -> Any:
    """The policy, the same in every process: drawn on the CPU, then moved."""
    import torch

    from unhack.models.config import Config
    from unhack.models.qwen3 import Qwen3
    from unhack.training.adapters import attach
    from unhack.training.config.settings import AdapterSettings
    from unhack.training.policy.policy import TinyPolicy

    torch.manual_seed(0)
    shape = SHAPES[size]
    model = Qwen3(Config(vocab=VOCABULARY, kv_heads=shape["heads"] // 2, **shape))
    adapters = attach(model, AdapterSettings(rank=8), seed=0)
    with torch.no_grad():
        for block in ("deployed", "quarantine"):
            for parameters in adapters.parameters(block).values():
                for item in parameters:
                    item.add_(0.02 * torch.randn(item.shape))
    return TinyPolicy(model, adapters, pad=PAD, stop=STOP, device=device)


def sampled(job: Job, *, seed: int) -> Any:
    """Rollouts of mixed prompts, the second half with the quarantine off."""
    import torch

    from unhack.training.loop.batches import join_rollouts

    count, group, length = BATCHES[job.size]
    generator = torch.Generator().manual_seed(seed)
    widths = torch.randint(8, 17, (count,), generator=generator).tolist()
    prompts = [
        torch.randint(2, VOCABULARY, (width,), generator=generator).tolist() for width in widths
    ]
    halves = [
        job.policy.sample(
            part, group=group, max_new=length, temperature=1.0, generator=generator, quarantine=on
        )
        for part, on in ((prompts[: count // 2], True), (prompts[count // 2 :], False))
    ]
    return join_rollouts(halves, pad=PAD)


def backward(job: Job, rollouts: Any) -> None:
    """Routed gradients of both blocks on this rank's rollouts, summed over the ranks."""

    from unhack.training import objectives
    from unhack.training.config.settings import ObjectiveSettings

    adapters, device = job.policy.adapters, job.policy.device
    rewards_B = (rollouts.tokens_B_T % 3 == 0).float().mean(1)
    settings = ObjectiveSettings(advantage="dr_grpo", aggregation="token_mean")
    advantages_B, _ = objectives.advantages(rewards_B, group=rollouts.group, estimator="dr_grpo")
    whole = objectives.counts(rollouts.mask_B_T, group=rollouts.group)
    job.ranks.all_reduce([whole])
    with adapters.capture(rollouts.count, tokens=False) as gradients:
        loss_B, _ = objectives.policy_loss(
            job.policy.score(rollouts).logprobs_B_T, rollouts.logprobs_B_T, advantages_B,
            rollouts.mask_B_T, settings=settings, group=rollouts.group,
            max_new=rollouts.tokens_B_T.shape[1], whole=whole,
        )  # fmt: skip
        loss_B.sum().backward()
    shares = rewards_B.clamp(0, 1).to(device)[:, None, None]
    adapters.assign(
        gradients.sums(1 - shares, block="deployed"), gradients.sums(shares, block="quarantine")
    )
    job.ranks.all_reduce([item.grad for item in trained(job.policy)])


def trained(policy: Any) -> list[Any]:
    """Both blocks' parameters, in one order."""
    blocks = ("deployed", "quarantine")
    found = [policy.adapters.parameters(block).values() for block in blocks]
    return [item for block in found for parameters in block for item in parameters]


def recorded(job: Job) -> tuple[Any, dict[str, Any] | None]:
    """This rank's share of the recorded rollouts, and the single process's gradients."""
    import numpy as np
    import torch
    from safetensors.numpy import load_file, save_file

    from unhack.training.policy.rollouts import Rollouts

    path = job.folder / "rollouts.safetensors"
    group = BATCHES[job.size][1]
    if job.ranks.count == 1:
        rollouts = sampled(job, seed=1)
        columns = {
            name: np.ascontiguousarray(getattr(rollouts, name).cpu().numpy())
            for name in Rollouts.__slots__
            if name != "group"
        }
        save_file(columns, path)
        return rollouts, None
    prompts = job.ranks.share(range(BATCHES[job.size][0]))
    rows = slice(prompts[0] * group, (prompts[-1] + 1) * group)
    columns = {
        name: torch.tensor(array[rows]).to(job.policy.device)
        for name, array in load_file(path).items()
    }
    expected = load_file(job.folder / "gradients.safetensors")
    return Rollouts(**columns, group=group), expected


def compared(job: Job) -> dict[str, Any]:
    """Largest relative difference, and whether one step leaves the ranks equal."""
    import torch
    from safetensors.torch import save_file

    rollouts, expected = recorded(job)
    backward(job, rollouts)
    gradients = [item.grad.detach().cpu() for item in trained(job.policy)]
    found: dict[str, Any] = {"rollouts": BATCHES[job.size][0] * BATCHES[job.size][1]}
    if expected is None:
        named = {str(index): item.contiguous() for index, item in enumerate(gradients)}
        save_file(named, job.folder / "gradients.safetensors")
    else:
        worst = [
            float((item - other).norm() / other.norm())
            for index, item in enumerate(gradients)
            for other in [torch.tensor(expected[str(index)])]
        ]
        found["largest_relative_difference"] = max(worst)
    optimiser = torch.optim.AdamW(trained(job.policy), lr=1e-3)
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    found["checksum"] = job.ranks.check_equal(trained(job.policy))
    return found


def timed(job: Job, steps: int) -> dict[str, Any]:
    """Tokens per second of whole steps, all ranks together."""
    import torch

    optimiser = torch.optim.AdamW(trained(job.policy), lr=1e-4)
    tokens = torch.zeros(1, dtype=torch.float64)
    began = 0.0
    for step in range(steps + 2):
        if step == 2:
            job.ranks.barrier()
            began = time.perf_counter()
            tokens.zero_()
        rollouts = sampled(job, seed=1000 * job.ranks.rank + step)
        backward(job, rollouts)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        tokens += float(rollouts.mask_B_T.sum())
    job.ranks.all_reduce([tokens])
    seconds = time.perf_counter() - began
    job.ranks.check_equal(trained(job.policy))
    return {
        "tokens_per_second": round(float(tokens) / seconds),
        "ms_per_step": round(1000 * seconds / steps, 1),
    }


def work(chosen: argparse.Namespace) -> int:
    """One rank."""
    import torch

    from unhack.training.loop.distributed import ranks

    torch.set_num_threads(1)
    with ranks(chosen.device, timeout_s=300) as here:
        job = Job(here, build(chosen.size, here.device), chosen.size, chosen.folder)
        found = {"ranks": here.count, **compared(job)}
        if chosen.steps:
            found |= timed(job, chosen.steps)
        if here.leads:
            found["parameters"] = job.policy.model.config.parameters
            found["torch"] = torch.__version__
            name = "cpu"
            if chosen.device == "cuda":
                name = torch.cuda.get_device_name()
                found["memory_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
            found["on"] = name
            (chosen.folder / f"{here.count}.json").write_text(json.dumps(found))
    return 0


def launch(chosen: argparse.Namespace, count: int, folder: Path) -> dict[str, Any]:
    """Run `count` ranks; the leader's figures."""
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}",
        str(Path(__file__).resolve()), "--worker", f"--folder={folder}",
        f"--device={chosen.device}", f"--size={chosen.size}", f"--steps={chosen.steps}",
    ]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NCCL_NVLS_ENABLE": "0"}
    subprocess.run(command, env=environment, check=True, timeout=540)
    return json.loads((folder / f"{count}.json").read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", choices=tuple(SHAPES), default="small")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5, help="timed steps; 0: none")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        return work(chosen)
    with tempfile.TemporaryDirectory() as folder:
        one, many = (launch(chosen, count, Path(folder)) for count in (1, chosen.ranks))
    difference, most = many["largest_relative_difference"], TOLERANCE[chosen.device]
    command = f"python benchmarks/train_data_parallel.py {' '.join(sys.argv[1:])}"
    ran_on = f"1 and {chosen.ranks} {one['on']}; {host()}" if chosen.device == "cuda" else host()
    figures = {"tolerance": most, "largest_relative_difference": difference, "runs": [one, many]}
    print(f"{one['parameters']} parameters, {one['rollouts']} recorded rollouts, {one['on']}")
    print(f"largest relative difference of a gradient: {difference:.2e} (at most {most:.0e})")
    for run in (one, many) if chosen.steps else ():
        print(f"{run['ranks']} rank(s): {run['tokens_per_second']} tokens/s")
    if out := os.environ.get("OUT"):
        document = {"command": command, "machine": ran_on, **figures}
        (Path(out) / "train_data_parallel.json").write_text(json.dumps(document, indent=1) + "\n")
    if chosen.save:
        save("train_data_parallel", command, figures, ran_on=ran_on)
    return int(difference > most)


if __name__ == "__main__":
    raise SystemExit(main())
