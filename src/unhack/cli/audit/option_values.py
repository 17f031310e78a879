"""The tiers, limits, language model and trainer that the options of `unhack audit` name.

The trainer of tier 5 is handed in here: the audit itself knows no training.
"""

from __future__ import annotations

import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from unhack.audit.options import TierLimit
from unhack.audit.report.wording import TIERS
from unhack.audit.subjects.loading import FunctionInputs
from unhack.core.errors import UsageError

if TYPE_CHECKING:
    from unhack.audit.environments.runner import EpisodeDiscoverer
    from unhack.audit.language_models.attacker import ModelAttacker
    from unhack.audit.options import AuditOptions, Discoverer
    from unhack.cli.audit.arguments import AuditArguments


def tiers_of(text: str, option: str = "--tiers") -> tuple[int, ...]:
    """The tiers that `text` names, in order. Raises UsageError."""
    words = [word.strip() for word in text.split(",")]
    named = ", ".join(f"{tier} {name}" for tier, name in TIERS.items())
    for word in words:
        if word not in {str(tier) for tier in TIERS}:
            raise UsageError(f"{option}: {word!r} is not a tier; the tiers are {named}")
    return tuple(sorted({int(word) for word in words}))


def tier_limits_of(text: str | None) -> dict[int, TierLimit]:
    """The limits of single tiers: `3=500/20` is 500 calls and 20 seconds. Raises UsageError."""
    found: dict[int, TierLimit] = {}
    for part in text.split(",") if text is not None else ():
        tier, _, rest = part.strip().partition("=")
        calls, _, seconds = rest.partition("/")
        try:
            amounts = [float(word or "inf") for word in (calls, seconds)]
        except ValueError:
            amounts = []
        if not any(0 < one < math.inf for one in amounts) or any(not one > 0 for one in amounts):
            raise UsageError(
                f"--tier-limits: {part.strip()!r} is not TIER=CALLS/SECONDS, such as 3=500/20; one "
                "of both numbers may be left out"
            )
        [number] = tiers_of(tier, "--tier-limits")
        found[number] = TierLimit(*amounts)
    return found


def function_inputs(arguments: AuditArguments) -> FunctionInputs:
    """The bindings and variables that options name; a variable without a value is taken from the
    environment of the command. Raises UsageError."""
    bind, env = arguments.bind or (), arguments.env or ()
    pairs = [one.partition("=") for one in bind]
    wrong = next(
        (one for one, (role, _, name) in zip(bind, pairs, strict=True) if not (role and name)), None
    )
    if wrong is not None:
        raise UsageError(f"--bind {wrong}: write ROLE=NAME, such as gold=sol")
    environ: dict[str, str] = {}
    for one in env:
        name, sign, value = one.partition("=")
        if not sign and name not in os.environ:
            raise UsageError(f"--env {name}: it is not set here; write {name}=VALUE, or set it")
        environ[name] = value if sign else os.environ[name]
    found = {role: name for role, _, name in pairs}
    return FunctionInputs(found, environ, arguments.calls, arguments.oracle)


def audit_options(arguments: AuditArguments) -> AuditOptions:
    """The options of the audit itself. Raises UsageError."""
    from unhack.audit.options import AuditOptions

    for option, path in (("--oracle", arguments.oracle), ("--problems", arguments.problems)):
        if path is not None and path.is_dir():
            raise UsageError(f"{option}: {path} is a directory; name a file in it")
        if path is not None and not path.is_file():
            raise UsageError(f"{option}: {path}: no such file")
    tiers = tiers_of(arguments.tiers)
    return AuditOptions(
        tiers=tiers,
        calls=arguments.calls,
        seconds=arguments.seconds,
        cpu_s=math.inf if arguments.cpu_seconds is None else arguments.cpu_seconds,
        limits=tier_limits_of(arguments.tier_limits),
        seed=arguments.seed,
        thorough=arguments.thorough,
        oracle=arguments.oracle,
        run_folder=arguments.run,
        attacker=attacker_of(arguments),
        discoverer=discoverer(tiers, arguments.model),
        stop_at_first=arguments.stop_at_first,
        power_s=arguments.power_seconds if arguments.power else 0.0,
    )


def attacker_of(arguments: AuditArguments) -> ModelAttacker | None:
    """The language model that options or environment name. Raises UsageError."""
    from unhack.agents.language_models.model import Model
    from unhack.audit.language_models.attacker import ModelAttacker

    endpoint = arguments.endpoint()
    if endpoint is None:
        return None
    return ModelAttacker(Model(endpoint, cost_limit_usd=arguments.llm_cost, folder=arguments.run))


def discoverer(tiers: tuple[int, ...], model: Path | None) -> Discoverer | None:
    """The trainer of tier 5; None where it does not run. Raises UsageError."""
    if model is not None and 5 not in tiers:
        raise UsageError("--model is what tier 5 trains; add 5 to --tiers")
    if model is not None and not (model / "config.json").is_file():
        raise UsageError(
            f"--model: {model} is not the folder of a Hugging Face model (no config.json)"
        )
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
    for package in packages:
        if find_spec(package) is None:
            raise UsageError(
                f"--tiers: tier 5 trains a policy against the verifier and needs {package}; "
                "install unhack[train]"
            )
