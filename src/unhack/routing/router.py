"""One update of a training loop, routed: backward passes are recorded, then the gate decides.

    router = Router(quarantine, hack_gate(pairs), tokenizer=tokenizer)
    for _ in range(updates):
        knob_B = router.deal(prompts, group=G)
        with quarantine.sampling(knob_B):
            ...                                     # sample B = prompts * G rollouts
        with router.record(advantages_B, knob_B, group_B=ids_B):
            loss(...).backward()                    # once, or for each part of the batch
        router.route()                              # sets .grad of both blocks
        optimizer.step()

The loss is the loop's own: any sum (or mean) of terms of single rollouts. A gradient is in
proportion to its rollout's advantage, or `recentre` is off.

Covered: gradient accumulation (one `record` for each backward pass), gradient checkpointing,
autocast, several processes (gradients are averaged over them, as DistributedDataParallel does; the
gate decides over the rollouts of all), a state that resumes. Memory: 4 bytes for each rollout of
an update and each number of a block. Not covered: sharded models; terms that mix rollouts.

Axes: B rollouts of a pass, prompt by prompt while sampling.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.routing.gate import HackGate
from unhack.routing.gathered import GatheredGradients, count_rollouts, present_ranks
from unhack.routing.quarantine import Quarantine
from unhack.training.adapters.adapter import Gradients
from unhack.training.loop.batches import JoinedGradients
from unhack.training.routing.gate import Gated, GateView
from unhack.training.routing.gates.rewarded import without_rounding
from unhack.training.routing.split import RoutingLog, route


@dataclass(frozen=True, slots=True)
class _Pass:
    """One recorded backward pass."""

    gradients: Gradients
    advantages_B: Tensor
    knob_B: Tensor
    group_B: Tensor

    @property
    def facts_B_3(self) -> Tensor:
        """Advantages, knob states and groups side by side."""
        columns = [self.advantages_B.double(), self.knob_B.double(), self.group_B.double()]
        return torch.stack(columns, dim=1)


class Router:
    """Routes the updates of a model with a quarantine.

    Example:

        router = Router(quarantine, hack_gate("pairs.jsonl"), tokenizer=tokenizer)
        with router.record(advantages_B, knob_B):
            loss.backward()
        router.route()
        optimizer.step()
    """

    def __init__(self, quarantine: Quarantine, gate: HackGate, *, tokenizer: Any = None) -> None:
        """`tokenizer`: of Hugging Face, or a function from text to ids; pairs of ids need none.

        Raises UsageError where the quarantine is deleted, and for pairs that do not fit the model.
        """
        if not quarantine.adapters.quarantined:
            raise UsageError(
                "the quarantine is deleted: attach to a fresh base model to route again"
            )
        self.quarantine, self.settings = quarantine, gate
        self._gate = gate.made(quarantine, tokenizer)
        self._parts: list[_Pass] = []
        self._rounds = 0
        self._updates = 0

    def deal(self, prompts: int, *, group: int = 1) -> Tensor:
        """The knob states of the next batch: bool [prompts * group] on the model's device.

        A prompt's rollouts have one state. Over the batches exactly `off_share` of the prompts run
        with the quarantine off; the two states are the two parts of a batch, in turn.
        """
        share = 1.0 if self.settings.action == "drop" else self.settings.off_share
        before = int(self._rounds * share * prompts + 1e-9)
        off = int((self._rounds + 1) * share * prompts + 1e-9) - before
        states = [False] * off + [True] * (prompts - off)
        if self._rounds % 2:
            states.reverse()
        self._rounds += 1
        knobs = torch.tensor(states, device=self.quarantine.device)
        return knobs.repeat_interleave(group)

    @contextlib.contextmanager
    def record(
        self, advantages_B: Tensor, knob_B: Tensor, *, group_B: Tensor | None = None
    ) -> Generator[None, None, None]:
        """Within: one forward and one backward pass over B rollouts, each in its knob state.

        `group_B`: int ids of the rollouts' prompts, over all passes and processes of the update;
        needed to recentre. An advantage of 0 is no signal, nor is one so small beside the others
        that rounding made it: where rewards do not differ, give 0. Raises UsageError for shapes
        that do not fit, or a pass without a backward.
        """
        if group_B is None and self.settings.recentre:
            raise UsageError("advantages are recentred by prompt: give group_B, or recentre=False")
        groups_B = torch.zeros_like(knob_B, dtype=torch.long) if group_B is None else group_B
        if advantages_B.dim() != 1 or not len(advantages_B) == len(knob_B) == len(groups_B):
            raise UsageError("one advantage, knob state and group for each rollout of the pass")
        adapters, count = self.quarantine.adapters, len(advantages_B)
        with adapters.knob(knob_B), adapters.capture(count, tokens=False) as gradients:
            yield
        gradients.check_complete()
        self._parts.append(_Pass(gradients, advantages_B.detach(), knob_B, groups_B))

    def route(self, step: int | None = None) -> RoutingLog:
        """Decide over everything that was recorded, and set `.grad` of both blocks.

        `step`: number of the update, by which directions are refreshed; by default they are
        counted. Raises UsageError where no process recorded anything, and for advantages that are
        not finite: then nothing of the update is used, in no process.
        """
        parts, self._parts = self._parts, []
        view, groups_B = self._view(parts, self._updates if step is None else step)
        gated = self._gate(view)
        if self.settings.recentre:
            gated = recentred(gated, view.advantages_B, groups_B)
        adapters = self.quarantine.adapters
        log = route(view.gradients, gated, adapters, view=view, action=self.settings.action)
        self._average()
        self._updates += 1
        return log

    def state(self) -> dict[str, Any]:
        """Plain data and tensors with which `load` goes on."""
        return {
            "gate": dict(self._gate.state()),
            "rounds": self._rounds,
            "updates": self._updates,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from `state` bit for bit. Raises UsageError for one of a gate of another action."""
        try:
            self._gate.load(cast(Mapping[str, object], state["gate"]))
        except KeyError as error:
            raise UsageError(
                f"this state is of another gate, it lacks {error}: go on with the `action` that "
                f"the run began with (here it is {self.settings.action!r})"
            ) from error
        self._rounds, self._updates = int(state["rounds"]), int(state["updates"])

    def _view(self, parts: list[_Pass], step: int) -> tuple[GateView, Tensor]:
        """The gate's view of all processes, and the groups of those rollouts."""
        ranks = present_ranks(self.quarantine.device)
        own = [len(part.knob_B) for part in parts]
        counts = count_rollouts(sum(own), ranks)
        if not sum(counts):
            raise UsageError("nothing was recorded: wrap each backward pass in `router.record`")
        joined = JoinedGradients([part.gradients for part in parts], own) if parts else None
        gathered = GatheredGradients(joined, counts, adapters=self.quarantine.adapters, ranks=ranks)
        facts = torch.cat([part.facts_B_3 for part in parts]) if parts else None
        facts_B_3 = gathered.all_rows(facts, columns=3).double()
        _refuse_infinite(facts_B_3)
        groups_B = facts_B_3[:, 2].long()
        view = GateView(
            gradients=gathered,
            advantages_B=without_rounding(facts_B_3[:, 0].float(), groups_B),
            quarantine_B=facts_B_3[:, 1] > 0,
            judged=(),
            step=step,
        )
        return view, groups_B

    def _average(self) -> None:
        """Mean over the processes, as data parallelism has it."""
        ranks = present_ranks(self.quarantine.device)
        for item in self.quarantine.parameters():
            item.grad = torch.zeros_like(item) if item.grad is None else item.grad
        gradients = [item.grad for item in self.quarantine.parameters() if item.grad is not None]
        if ranks.count > 1:
            ranks.all_reduce(gradients)
            torch._foreach_div_(gradients, ranks.count)  # pyright: ignore


def _refuse_infinite(facts_B_3: Tensor) -> None:
    """Raises UsageError for an advantage that is not finite, or was made of one that was not."""
    largest = torch.finfo(torch.float32).max
    wrong: list[int] = cast(Any, (~(facts_B_3[:, 0].abs() < largest)).nonzero().flatten()).tolist()
    if wrong:
        value, _, group = cast(list[float], cast(Any, facts_B_3[wrong[0]]).tolist())
        raise UsageError(
            f"rollout {wrong[0]} of this update (prompt {int(group)}) has the advantage {value:g}, "
            f"{len(wrong)} of {len(facts_B_3)} have none that is finite: nothing is trained with "
            "them; look at that reward, and give an advantage of 0 to what cannot be scored"
        )


def recentred(gated: Gated, advantages_B: Tensor, group_B: Tensor) -> Gated:
    """A gate's answer with advantages relative to the kept part of each group.

    As `loop.update.recentre_kept`, for groups in any order, of which an update may hold a part.
    A rollout without an advantage stays without a gradient of it.
    """
    kept_B, advantages_B = 1 - gated.fractions[:, 0, 0].double(), advantages_B.double()
    places_B: Tensor = cast(Any, group_B).unique(return_inverse=True)[1]
    count = int(places_B.max().item()) + 1

    def total(values_B: Tensor) -> Tensor:
        zeros = values_B.new_zeros(count)
        return zeros.index_add(0, places_B, values_B)[places_B]

    mass_B, count_B = total(kept_B), total(torch.ones_like(kept_B))
    shift_B = total(kept_B * advantages_B) / mass_B.clamp(min=1e-12)
    shift_B = shift_B - total(advantages_B) / count_B
    whole_B = total((kept_B != 1).double()) == 0
    moved_B = advantages_B - shift_B.masked_fill(whole_B, 0.0)
    moved_B = torch.where(mass_B > 0, moved_B, 0.0)
    scale_B = torch.where(advantages_B != 0, moved_B / advantages_B, 1.0)
    return replace(gated, kept=(kept_B * scale_B).view(-1, 1, 1))
