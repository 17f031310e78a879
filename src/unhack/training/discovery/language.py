"""A Hugging Face causal language model as the policy of tier 5.

All weights train, so the model should be small; it lies in memory in float32. Completions are
sampled by the library's own `generate` at temperature 1 from the prompt in the model's chat form.

Axes: B rollouts, P prompt tokens, T completion tokens, V vocabulary.

Covered: folders with weights and a tokenizer, on a GPU where there is one. Nothing is downloaded.
Not covered: adapters, sharded models, code of the folder itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unhack.audit.attack import Knowledge
from unhack.audit.language_models.claims import claim_of
from unhack.core.errors import UsageError
from unhack.training.discovery.grammar import Written
from unhack.training.discovery.learner import LearnerUpdate, update_loss

_RATE, _CLIP = 1e-5, 1.0
_MAX_NEW = 256


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The rollouts of one group."""

    tokens_B_PT: Tensor
    prompt: int
    """P."""
    mask_B_T: Tensor


class LanguageLearner:
    """Writes text; see `learner.Learner`."""

    def __init__(
        self,
        folder: Path,
        known: Sequence[Knowledge],
        *,
        seed: int,
        max_new: int = _MAX_NEW,
        rate: float = _RATE,
    ) -> None:
        """Raises UsageError where the folder holds no model and tokenizer."""
        from transformers import AutoModelForCausalLM, AutoTokenizer

        auto_model: Any = AutoModelForCausalLM
        auto_tokenizer: Any = AutoTokenizer
        try:
            self._tokenizer: Any = auto_tokenizer.from_pretrained(folder, local_files_only=True)
            model: Any = auto_model.from_pretrained(
                folder, local_files_only=True, dtype=torch.float32
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"{folder}: no Hugging Face model can be loaded: {error}") from None
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model: Any = model.to(self._device)
        self.name = f"the model {folder.name}"
        self.parameters = int(sum(one.numel() for one in self._model.parameters()))
        self._known, self._seed, self._max_new = known, seed, max_new
        self._optimiser = torch.optim.AdamW(
            self._model.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0.0
        )
        end = self._tokenizer.eos_token_id
        self._end = int(end if end is not None else self._tokenizer.pad_token_id)
        self._drawn: list[_Drawn] = []

    def draw(self, problems: Sequence[int], *, group: int, step: int) -> list[Written]:
        """See `Learner`."""
        self._drawn = []
        found: list[Written] = []
        self._model.eval()
        for place, problem in enumerate(problems):
            drawn = self._sample(self._prompt(problem), group, seed=(step << 16) + place)
            self._drawn.append(drawn)
            for row in drawn.tokens_B_PT[:, drawn.prompt :]:
                text = str(self._tokenizer.decode(row, skip_special_tokens=True))
                found.append(Written(text, claim_of(text, self._known[problem])))
        return found

    def learn(self, rewards: Sequence[float], *, group: int) -> LearnerUpdate:
        """See `Learner`."""
        self._optimiser.zero_grad(set_to_none=True)
        loss = entropy = 0.0
        for place, drawn in enumerate(self._drawn):
            rewards_B = torch.tensor(list(rewards[place * group : (place + 1) * group]))
            logprobs_B_T, entropy_B_T = self._score_drawn(drawn)
            part = update_loss(
                logprobs_B_T, logprobs_B_T.detach(), rewards_B=rewards_B.to(self._device),
                mask_B_T=drawn.mask_B_T, group=group, max_new=self._max_new,
            ) / len(self._drawn)  # fmt: skip
            part.backward()  # pyright: ignore[reportUnknownMemberType]
            loss += float(part.detach())
            mean = (entropy_B_T * drawn.mask_B_T).sum() / drawn.mask_B_T.sum()
            entropy += float(mean) / len(self._drawn)
        nn.utils.clip_grad_norm_(self._model.parameters(), _CLIP)
        self._optimiser.step()  # pyright: ignore[reportUnknownMemberType]
        return LearnerUpdate(loss, entropy)

    def _prompt(self, problem: int) -> list[int]:
        text = self._known[problem].problem.prompt
        if getattr(self._tokenizer, "chat_template", None):
            text = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": text}],
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,
            )
        return [int(token) for token in self._tokenizer(text, add_special_tokens=False).input_ids]

    @torch.no_grad()
    def _sample(self, prompt: Sequence[int], count: int, *, seed: int) -> _Drawn:
        prompt_B_P = torch.tensor([list(prompt)] * count, device=self._device)
        with torch.random.fork_rng():  # pyright: ignore[reportUnknownMemberType]
            torch.manual_seed(self._seed * 1_000_003 + seed)  # pyright: ignore[reportUnknownMemberType]
            tokens_B_PT: Tensor = self._model.generate(
                input_ids=prompt_B_P, attention_mask=torch.ones_like(prompt_B_P), do_sample=True,
                temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=self._max_new,
                eos_token_id=self._end, pad_token_id=self._end,
            )  # fmt: skip
        ends_B_T = tokens_B_PT[:, len(prompt) :] == self._end
        before_B_T = ends_B_T.long().cumsum(1) - ends_B_T.long()
        return _Drawn(tokens_B_PT, len(prompt), before_B_T == 0)

    def _score_drawn(self, drawn: _Drawn) -> tuple[Tensor, Tensor]:
        logits_B_T_V = self._model(input_ids=drawn.tokens_B_PT).logits
        every_B_T_V = logits_B_T_V[:, drawn.prompt - 1 : -1].float().log_softmax(-1)
        chosen_B_T = drawn.tokens_B_PT[:, drawn.prompt :]
        logprobs_B_T = every_B_T_V.gather(2, chosen_B_T[..., None])[..., 0]
        with torch.no_grad():
            entropy_B_T = -(every_B_T_V.exp() * every_B_T_V).sum(-1)
        return logprobs_B_T * drawn.mask_B_T, entropy_B_T
