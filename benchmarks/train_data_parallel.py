"""Gradients of several ranks against one rank's; tokens per second against a bare loop's.

    python benchmarks/train_data_parallel.py [--device cuda] [--size large] [--ranks 2] [--save]

One process samples rollouts of a randomly initialised Qwen3 with adapters (mixed prompt lengths,
half of the prompts with the quarantine off), writes them down, and takes the routed gradients of
both blocks. Then `torchrun` starts the ranks: each takes the gradients of its share of the same
rollouts, they are summed (gloo on the CPU, nccl on CUDA), and the leader compares. After one
optimiser step the ranks' weights must have one checksum.

Then whole steps are timed: sample, reward, score, loss, backward, optimiser; every rank has as many
prompts as the single process, and tokens per second are those of all ranks. No token ends a
completion there: a policy that learns to stop early would have fewer tokens for the same steps.

- routed: both knob states are sampled, every rollout's gradient is kept, the gate of
  `unhack.routing` decides over the rollouts of all ranks, its directions are extracted every five
  updates. The seconds of a step are also told by phase, each ended by a look at the device.
- bare: what one writes without this package. The same model, sampler, batch, loss and AdamW in
  plain torch, all weights trained by autograd. It takes turns with `routed` in the single process.
- apart: as many processes as ranks run `routed` at once, each for itself. What they lose against
  one is the machine's, what the ranks lose against them is that of working together.

`large` has 53M parameters, `small` 28k. The exit code is 1 where a gradient differs by more than
the tolerance (relative to the norm of the module's gradient) or the weights differ. Prints the
figures, writes JSON to $OUT/train_data_parallel.json where OUT is set, and with `--save` to
`results/`. Needs torch and numpy; no network.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
VOCABULARY, PAD, STOP, NO_STOP = 96, 0, 1, -1
PAIRS, WARM = 16, 2
"""Pairs of the gate; steps that are not counted."""
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "NCCL_NVLS_ENABLE": "0"}
Step = Callable[[int], int]
"""Makes the step of a number; completion tokens of this rank."""


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
    prompts = drawn_prompts(count, generator)
    if job.policy.samples_halves:
        both = {True: generator, False: generator}
        return job.policy.sample(
            prompts, group=group, max_new=length, temperature=1.0, generators=both
        )
    halves = [
        job.policy.sample(
            part, group=group, max_new=length, temperature=1.0, generators={on: generator}
        )
        for part, on in ((prompts[: count // 2], True), (prompts[count // 2 :], False))
    ]
    return join_rollouts(halves, pad=PAD)


def drawn_prompts(count: int, generator: Any) -> list[list[int]]:
    """Random prompts of 8 to 16 tokens."""
    import torch

    widths = torch.randint(8, 17, (count,), generator=generator).tolist()
    return [
        torch.randint(2, VOCABULARY, (width,), generator=generator).tolist() for width in widths
    ]


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
            job.policy.score(rollouts), rollouts.logprobs_B_T, advantages_B,
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


class Phases:
    """Seconds of the parts of a step, each ended by a look at the device."""

    def __init__(self, device: str) -> None:
        self.device, self.seconds, self.began = device, dict[str, list[float]](), 0.0

    def start(self) -> None:
        self.began = self._now()

    def end(self, name: str) -> None:
        now = self._now()
        self.seconds.setdefault(name, []).append(now - self.began)
        self.began = now

    def _now(self) -> float:
        import torch

        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        return time.perf_counter()

    def medians(self) -> dict[str, float]:
        """Milliseconds of counted steps."""
        return {
            name: round(1000 * statistics.median(values[WARM:]), 1)
            for name, values in self.seconds.items()
        }


def worth(tokens_B_T: Any, group: int) -> Any:
    """Advantages relative to the group: the reward is the share of tokens that three divides."""
    rewards_P_G = (tokens_B_T % 3 == 0).float().mean(1).view(-1, group)
    return (rewards_P_G - rewards_P_G.mean(1, keepdim=True)).flatten()


def surrogate(logprobs_B_T: Any, rollouts: Any, advantages_B: Any) -> Any:
    """The clipped loss, averaged over tokens."""
    ratio_B_T = (logprobs_B_T - rollouts.logprobs_B_T).exp()
    worth_B_1 = advantages_B[:, None]
    gain_B_T = (ratio_B_T * worth_B_1).minimum(ratio_B_T.clamp(0.8, 1.2) * worth_B_1)
    return -(gain_B_T * rollouts.mask_B_T).sum() / rollouts.mask_B_T.sum()


def routed(job: Job, phases: Phases) -> Step:
    """The step of `unhack.routing`."""
    import torch

    from unhack.routing import Quarantine, Router, TextPair, hack_gate

    quarantine = Quarantine(job.policy.model, job.policy.adapters)
    pairs = [
        TextPair([2 + at, 3 + at, 4], [5, 6 + at % 9, STOP], [40 + at, STOP]) for at in range(PAIRS)
    ]
    router = Router(quarantine, hack_gate(pairs))
    fused = job.policy.device.type == "cuda"
    optimiser = torch.optim.AdamW(quarantine.parameters(), lr=1e-4, fused=fused)

    def step(number: int) -> int:
        phases.start()
        rollouts = sampled(job, seed=1000 * job.ranks.rank + number)
        phases.end("sample")
        advantages_B = worth(rollouts.tokens_B_T, rollouts.group)
        groups_B = torch.arange(rollouts.count, device=job.policy.device) // rollouts.group
        groups_B += job.ranks.rank * rollouts.count
        with router.record(advantages_B, rollouts.quarantine_B, group_B=groups_B):
            scores = job.policy.score(rollouts)
            surrogate(scores, rollouts, advantages_B).backward()
        phases.end("backward")
        router.route()
        phases.end("route")
        torch.nn.utils.clip_grad_norm_(quarantine.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        tokens = int(rollouts.mask_B_T.sum())
        phases.end("step")
        return tokens

    return step


def bare(job: Job) -> Step:
    """The step without this package's training: all weights, autograd."""
    import torch
    from torch.nn import functional

    from unhack.models.config import Config
    from unhack.models.qwen3 import Qwen3
    from unhack.models.sampling import SamplingPlan, pad_left, sample

    count, group, length = BATCHES[job.size]
    shape, device = SHAPES[job.size], job.policy.device
    torch.manual_seed(0)
    model = Qwen3(Config(vocab=VOCABULARY, kv_heads=shape["heads"] // 2, **shape)).to(device)
    fused = device.type == "cuda"
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=fused)
    plan = SamplingPlan(length, NO_STOP, PAD, group=group)

    def step(number: int) -> int:
        generator = torch.Generator().manual_seed(number)
        prompts = drawn_prompts(count, generator)
        prompt_N_P, mask_N_P = pad_left(prompts, pad=PAD, device=device)
        found = sample(model, prompt_N_P, mask_N_P=mask_N_P, plan=plan, generators=[generator])
        rows_B_P = prompt_N_P.repeat_interleave(group, dim=0)
        before_B_P = mask_N_P.repeat_interleave(group, dim=0)
        tokens_B_S = torch.cat([rows_B_P, found.tokens_B_T], dim=1)
        present_B_S = torch.cat([before_B_P, torch.ones_like(found.mask_B_T)], dim=1)
        hidden_B_S_D = model.hidden(tokens_B_S, mask_B_T=present_B_S)
        last = hidden_B_S_D[:, rows_B_P.shape[1] - 1 : -1]
        logprobs_B_T_V = functional.linear(last, model.lm_head.weight).float().log_softmax(-1)
        logprobs_B_T = logprobs_B_T_V.gather(2, found.tokens_B_T[:, :, None]).squeeze(2)
        surrogate(logprobs_B_T, found, worth(found.tokens_B_T, group)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return int(found.mask_B_T.sum())

    return step


def timed(job: Job, steps: int, *, alone: bool) -> dict[str, Any]:
    """Tokens per second of whole steps, all ranks together; of the single process beside a bare
    loop, step by step."""
    import torch

    device = job.ranks.device
    phases, clock = Phases(device), Phases(device)
    job.policy.stop = NO_STOP
    sides = {"routed": routed(job, phases)}
    if job.ranks.count == 1 and not alone:
        sides["bare"] = bare(job)
    tokens: dict[str, list[int]] = {name: [] for name in sides}
    job.ranks.barrier()
    for number in range(WARM + steps):
        for name, side in sides.items():
            clock.start()
            tokens[name].append(side(number))
            clock.end(name)
    rates = {
        name: [count / taken for count, taken in zip(counts, clock.seconds[name], strict=True)]
        for name, counts in tokens.items()
    }
    whole = torch.tensor(
        [sum(tokens["routed"][WARM:]) / sum(clock.seconds["routed"][WARM:])], dtype=torch.float64
    )
    job.ranks.all_reduce([whole])
    job.ranks.check_equal(trained(job.policy))
    found: dict[str, Any] = {
        "tokens_per_second": round(float(whole)),
        "ms_per_step": clock.medians()["routed"],
        "phases_ms": job.ranks.gather(phases.medians()),
    }
    if "bare" in sides:
        ratios = [one / other for one, other in zip(rates["routed"], rates["bare"], strict=True)]
        found["bare_tokens_per_second"] = round(
            sum(tokens["bare"][WARM:]) / sum(clock.seconds["bare"][WARM:])
        )
        low, middle, high = statistics.quantiles(ratios[WARM:], n=4)
        found["of_bare"] = {"median": middle, "q25": low, "q75": high}
    return found


def apart(chosen: argparse.Namespace, count: int, folder: Path) -> dict[str, Any]:
    """As many single processes at once as there are ranks, each on a device of its own."""
    running = []
    cards = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    cards = [str(number) for number in range(count)] if cards == [""] else cards
    for number in range(count):
        own = folder / f"apart-{number}"
        own.mkdir()
        environment = {**ENVIRONMENT, "CUDA_VISIBLE_DEVICES": cards[number]}
        command = [
            sys.executable, str(Path(__file__).resolve()), "--worker", "--alone",
            f"--folder={own}", f"--device={chosen.device}", f"--size={chosen.size}",
            f"--steps={chosen.steps}",
        ]  # fmt: skip
        running.append((own, subprocess.Popen(command, env=environment)))
    for own, process in running:
        if process.wait(timeout=300):
            raise SystemExit(f"a process apart ended with {process.returncode}: {own}")
    found = [json.loads((own / "1.json").read_text()) for own, _ in running]
    return {
        "processes": count,
        "tokens_per_second": sum(item["tokens_per_second"] for item in found),
        "phases_ms": [item["phases_ms"][0] for item in found],
    }


def work(chosen: argparse.Namespace) -> int:
    """One rank."""
    import torch

    from unhack.training.loop.distributed import ranks

    torch.set_num_threads(1)
    with ranks(chosen.device, timeout_s=300) as here:
        job = Job(here, build(chosen.size, here.device), chosen.size, chosen.folder)
        found = {"ranks": here.count} if chosen.alone else {"ranks": here.count, **compared(job)}
        if chosen.steps:
            found |= timed(job, chosen.steps, alone=chosen.alone)
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
    subprocess.run(command, env=ENVIRONMENT, check=True, timeout=540)
    return json.loads((folder / f"{count}.json").read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", choices=tuple(SHAPES), default="small")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10, help="timed steps; 0: none")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        return work(chosen)
    with tempfile.TemporaryDirectory() as folder:
        one, many = (launch(chosen, count, Path(folder)) for count in (1, chosen.ranks))
        beside = apart(chosen, chosen.ranks, Path(folder)) if chosen.steps else None
    difference, most = many["largest_relative_difference"], TOLERANCE[chosen.device]
    command = f"python benchmarks/train_data_parallel.py {' '.join(sys.argv[1:])}"
    ran_on = f"1 and {chosen.ranks} {one['on']}; {host()}" if chosen.device == "cuda" else host()
    figures: dict[str, Any] = {
        "tolerance": most, "largest_relative_difference": difference, "runs": [one, many],
    }  # fmt: skip
    if beside is not None:
        rates = [item["tokens_per_second"] for item in (one, many, beside)]
        figures["apart"] = beside
        figures["times_one"] = {"ranks": rates[1] / rates[0], "apart": rates[2] / rates[0]}
    print(f"{one['parameters']} parameters, {one['rollouts']} recorded rollouts, {one['on']}")
    print(f"largest relative difference of a gradient: {difference:.2e} (at most {most:.0e})")
    for run in (one, many) if chosen.steps else ():
        print(f"{run['ranks']} rank(s): {run['tokens_per_second']} tokens/s, {run['phases_ms']}")
    if beside is not None:
        print(f"bare: {one['bare_tokens_per_second']} tokens/s; routed is {one['of_bare']} of it")
        print(f"apart: {beside['tokens_per_second']} tokens/s, {beside['phases_ms']}")
        print(f"times one: {figures['times_one']}")
    if out := os.environ.get("OUT"):
        document = {"command": command, "machine": ran_on, **figures}
        (Path(out) / "train_data_parallel.json").write_text(json.dumps(document, indent=1) + "\n")
    if chosen.save:
        save("train_data_parallel", command, figures, ran_on=ran_on)
    return int(difference > most)


if __name__ == "__main__":
    raise SystemExit(main())
