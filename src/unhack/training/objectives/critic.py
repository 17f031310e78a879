"""A critic for PPO: values of hidden states, generalised advantages, the clipped value loss.

    delta_t = r_t + gamma V_{t+1} - V_t,   A_t = delta_t + gamma lambda A_{t+1}   (arXiv 1506.02438)
    L_V = 1/2 mean_t max((V - R)^2, (clip(V, V_old - c, V_old + c) - R)^2),   R = A + V_old

In a step of the loop, with `critic = make_critic(width, settings=s, seed=n)`:

    with hidden_states(policy.model) as states:
        scores = policy.score(rollouts)
    states_B_T_D = states.before(prompt_length, T)
    rewards_B_T = token_rewards(...)                  # terminal reward, KL per token
    estimate = critic.estimate(states_B_T_D, rewards_B_T, mask_B_T)
    loss_B, log = policy_loss(..., estimate.advantages_B_T, ...)
    log |= critic.learn(states_B_T_D, estimate, mask_B_T)

The head reads hidden states without gradient: the policy's adapters feel the policy loss only, so
routing sees no value gradient. It starts at 0 everywhere, so the first advantages are the rewards.

Traps: verl whitens advantages but not the returns, and so do we; its value clip is 0.5, SkyRL's
0.2, and both are in units of reward; a clip smaller than the range of returns makes the critic
slow, not safe. With gamma = lambda = 1 (verl's defaults) A_t is the return minus V_t. V after the
last token is 0, also when the answer was truncated.

Covered: one head over frozen features, its own AdamW, state for resuming. Not covered: a critic
with its own trunk; whitening over ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from unhack.core.errors import UsageError
from unhack.training.config.settings import ObjectiveSettings

RATE = 1e-3
"""Learning rate of the value head."""


def gae(
    rewards_B_T: Tensor, values_B_T: Tensor, mask_B_T: Tensor, *, discount: float, decay: float
) -> tuple[Tensor, Tensor]:
    """(advantages_B_T, returns_B_T), not whitened, 0 where masked.

    Active tokens are a prefix of each row. `discount` is gamma, `decay` is lambda.
    """
    active = mask_B_T.to(values_B_T.dtype)
    values_B_T, rewards_B_T = values_B_T * active, rewards_B_T * active
    advantages_B_T = torch.zeros_like(values_B_T)
    next_value, running = torch.zeros_like(values_B_T[:, 0]), torch.zeros_like(values_B_T[:, 0])
    for step in range(values_B_T.shape[1] - 1, -1, -1):
        delta = rewards_B_T[:, step] + discount * next_value - values_B_T[:, step]
        running = (delta + discount * decay * running) * active[:, step]
        advantages_B_T[:, step] = running
        next_value = values_B_T[:, step]
    return advantages_B_T, advantages_B_T + values_B_T


def whiten(values_B_T: Tensor, mask_B_T: Tensor) -> Tensor:
    """Mean 0 and variance 1 over active tokens (n - 1, epsilon 1e-8 in the variance, as verl); 0
    where masked. Fewer than two tokens are only centred."""
    active = mask_B_T.to(values_B_T.dtype)
    count = active.sum()
    centred = (values_B_T - (values_B_T * active).sum() / count.clamp_min(1)) * active
    variance = centred.square().sum() / (count - 1).clamp_min(1)
    return centred * torch.rsqrt(variance + 1e-8) if count > 1 else centred


def value_loss(
    values_B_T: Tensor, old_B_T: Tensor, returns_B_T: Tensor, mask_B_T: Tensor, *, clip: float
) -> Tensor:
    """The clipped value loss, a mean over active tokens (scalar)."""
    near = torch.clamp(values_B_T, old_B_T - clip, old_B_T + clip)
    worst = torch.maximum((values_B_T - returns_B_T).square(), (near - returns_B_T).square())
    return 0.5 * (worst * mask_B_T).sum() / mask_B_T.sum().clamp_min(1)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The critic's estimate of a batch, without gradient."""

    advantages_B_T: Tensor
    """Whitened."""
    returns_B_T: Tensor
    values_B_T: Tensor

    def advantages_B(self, mask_B_T: Tensor) -> Tensor:
        """Mean advantage of each rollout, for gates and logs that want one number."""
        return (self.advantages_B_T * mask_B_T).sum(1) / mask_B_T.sum(1).clamp_min(1)


class ValueHead(nn.Module):
    """[B, T, D] hidden states -> values [B, T]: norm, one hidden layer of D, zero at the start."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 1)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, states_B_T_D: Tensor) -> Tensor:
        inner = torch.tanh(self.inner(self.norm(states_B_T_D.float())))
        return self.outer(inner).squeeze(-1)


@dataclass(slots=True)
class Critic:
    """A value head with its optimiser."""

    head: ValueHead
    optimiser: torch.optim.AdamW
    settings: ObjectiveSettings

    @torch.no_grad()
    def estimate(self, states_B_T_D: Tensor, rewards_B_T: Tensor, mask_B_T: Tensor) -> Estimate:
        """Values, returns and whitened advantages of a batch."""
        values_B_T = self.head(states_B_T_D) * mask_B_T
        advantages_B_T, returns_B_T = gae(
            rewards_B_T.to(values_B_T),
            values_B_T,
            mask_B_T,
            discount=self.settings.discount,
            decay=self.settings.gae_lambda,
        )
        return Estimate(whiten(advantages_B_T, mask_B_T), returns_B_T, values_B_T)

    def learn(
        self,
        states_B_T_D: Tensor,
        estimate: Estimate,
        mask_B_T: Tensor,
        *,
        reduce: Callable[[list[Tensor]], object] | None = None,
    ) -> dict[str, float]:
        """One step on the value loss; gives `value_loss` and `value_explained`.

        `value_explained` is 1 - var(R - V) / var(R) over active tokens, before the step.
        `reduce` averages gradients over ranks in place.
        """
        values_B_T = self.head(states_B_T_D.detach())
        loss = value_loss(
            values_B_T,
            estimate.values_B_T,
            estimate.returns_B_T,
            mask_B_T,
            clip=self.settings.value_clip,
        )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        if reduce is not None:
            reduce([item.grad for item in self.head.parameters() if item.grad is not None])
        self.optimiser.step()  # pyright: ignore[reportUnknownMemberType]
        returns = estimate.returns_B_T[mask_B_T]
        left = returns - values_B_T.detach()[mask_B_T]
        total = returns.var(correction=0).item()
        explained = 1.0 - left.var(correction=0).item() / total if total > 0 else 0.0
        return {"value_loss": loss.item(), "value_explained": explained}

    def state(self) -> dict[str, Tensor]:
        """Tensors that `load` restores: weights and the optimiser's moments."""
        saved = {f"head.{name}": item.clone() for name, item in self.head.state_dict().items()}
        for number, moments in _moments(self.optimiser).items():
            saved |= {f"moments.{number}.{name}": item.clone() for name, item in moments.items()}
        return saved

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Go on from `state()`."""
        heads = {
            name.removeprefix("head."): item
            for name, item in state.items()
            if name.startswith("head.")
        }
        self.head.load_state_dict(heads)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, item in state.items():
            if name.startswith("moments."):
                _, number, which = name.split(".")
                moments.setdefault(int(number), {})[which] = item.clone()
        packed = self.optimiser.state_dict()
        self.optimiser.load_state_dict({**packed, "state": moments})


def make_critic(
    width: int, *, settings: ObjectiveSettings, seed: int, device: str | torch.device = "cpu"
) -> Critic:
    """A critic over hidden states of `width` numbers; the draw depends on `seed` alone."""
    with torch.random.fork_rng(devices=[]):  # pyright: ignore[reportUnknownMemberType]
        torch.manual_seed(seed)  # pyright: ignore[reportUnknownMemberType]
        head = ValueHead(width)
    head.to(device)
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE, betas=(0.9, 0.99), weight_decay=0.0)
    return Critic(head, optimiser, settings)


@dataclass(slots=True)
class HiddenStates:
    """Inputs of the output matrix during a block of `hidden_states`."""

    parts: list[Tensor] = field(default_factory=list[Tensor])

    def before(self, prompt_length: int, length: int) -> Tensor:
        """[B, T, D], detached: the state from which each completion token was drawn.

        `prompt_length` is P with its padding. Forwards over parts of the batch are joined in order.
        Raises UsageError when nothing ran or the sequence is too short.
        """
        if not self.parts or self.parts[0].shape[1] < prompt_length + length - 1:
            raise UsageError("no forward over prompt and completion ran inside hidden_states")
        first = prompt_length - 1
        return torch.cat([part[:, first : first + length] for part in self.parts])


@contextmanager
def hidden_states(model: nn.Module) -> Generator[HiddenStates]:
    """Within: forwards of a causal LM (ours or Hugging Face) record their last hidden states.

    Raises UsageError for a model without `model.norm`.
    """
    trunk: Any = getattr(model, "model", None)
    norm: Any = getattr(trunk, "norm", None)
    if not isinstance(norm, nn.Module):
        raise UsageError("a critic needs a model whose last norm is `model.norm`")
    seen = HiddenStates()

    def record(module: nn.Module, inputs: Any, output: Tensor) -> None:
        seen.parts.append(output.detach())

    handle = norm.register_forward_hook(record)
    try:
        yield seen
    finally:
        handle.remove()


def _moments(optimiser: torch.optim.AdamW) -> dict[int, dict[str, Tensor]]:
    packed: Any = optimiser.state_dict()["state"]
    return packed
