"""The trainer of tier 5 of `unhack audit`; the audit itself knows no training."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unhack.audit.environments.runner import EpisodeDiscoverer
    from unhack.audit.options import Discoverer


def discoverer(tiers: tuple[int, ...], model: Path | None) -> Discoverer | None:
    """The trainer of tier 5; None where it does not run. Raises UsageError."""
    from unhack.core.errors import UsageError

    if model is not None and 5 not in tiers:
        raise UsageError("--model is what tier 5 trains; add 5 to --tiers")
    if model is not None and not (model / "config.json").is_file():
        raise UsageError(f"--model: {model} is no folder of a Hugging Face model (config.json)")
    if 5 not in tiers:
        return None
    _need("torch", *(("transformers",) if model is not None else ()))
    from unhack.training.discovery.explore import Reinforcement

    return Reinforcement(model=model)


def episode_discoverer(tiers: tuple[int, ...]) -> EpisodeDiscoverer | None:
    """The trainer of tier 5 of an environment; None where it does not run. Raises UsageError."""
    if 5 not in tiers:
        return None
    _need("torch")
    from unhack.training.discovery.episodes import EpisodeReinforcement

    return EpisodeReinforcement()


def _need(*packages: str) -> None:
    """Raise UsageError for a package that is not installed."""
    from unhack.core.errors import UsageError

    for package in packages:
        if find_spec(package) is None:
            raise UsageError(
                f"--tiers: tier 5 trains a policy against the verifier and needs {package}; "
                "install unhack[train]"
            )
