"""What is missing is named, with what to do, before work begins."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.routing import routed

WITHOUT = """
import sys
sys.modules["torch"] = None
try:
    import unhack.routing
except Exception as error:
    print(type(error).__name__, error)
"""


def test_without_torch_the_extra_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(
        "NotInstalledError unhack.routing needs torch: pip install '.[train]'"
    )


class Bare:
    """No trainer."""


class Renamed:
    """A trainer whose loss takes the batch first."""

    def _generate_and_score_completions(self, inputs: Any) -> Any: ...

    def _generate_single_turn(self, prompt_ids: Any, images: Any) -> Any: ...

    def _compute_loss(self, inputs: Any, model: Any) -> Any: ...

    def _get_per_token_logps_and_entropies(self, model: Any, input_ids: Any) -> Any: ...

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any) -> Any: ...

    def _save_checkpoint(self, model: Any, trial: Any) -> Any: ...

    def _load_optimizer_and_scheduler(self, checkpoint: Any) -> Any: ...


@pytest.mark.parametrize(
    ("trainer", "named"), [(Bare, "training_step"), (Renamed, "_compute_loss")]
)
def test_a_trainer_of_another_version_is_refused_by_what_it_lacks(trainer: Any, named: str) -> None:
    with pytest.raises(UsageError, match=rf"{trainer.__name__} \(trl .*\) lacks .*{named}") as told:
        routed(trainer)
    assert "pip install 'trl==1.16.0'" in str(told.value)
    assert ("_save_checkpoint" in str(told.value)) is (trainer is Bare)
