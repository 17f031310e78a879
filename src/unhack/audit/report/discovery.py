"""Tier 5 as an audit reports it: the curve of a policy that was trained against the verifier.

The audit knows no training: `unhack.training.discovery` hands itself in through
`AuditOptions.discoverer`, and what its policy converges on is proven by the prover like all else.

Covered: the record of a training run and its file in the audit's folder.
Not covered: how a policy is trained; the interface is `unhack.audit.options.Discoverer`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from unhack.store.errors import storing
from unhack.store.files import write_whole

_FILE = "discovery.json"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One update of the policy."""

    step: int
    reward: float
    """Mean raw score of the rollouts; those without a score count as 0."""
    passing: float
    """Share of rollouts that score as much as a correct completion."""
    wrong: float
    """Share of rollouts that pass and that the oracle calls wrong; estimated from those that it was
    shown."""
    entropy: float
    """Nats a token."""
    calls: int
    """Calls of the verifier so far; texts seen before are not scored again."""

    def to_json(self) -> dict[str, float]:
        """The point as plain JSON values."""
        return {name: round(value, 6) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Discovery:
    """The record of training a policy against the verifier."""

    policy: str
    """The policy, in a few words."""
    parameters: int
    curve: tuple[CurvePoint, ...]
    converged: bool
    """True when most of the last rollouts pass although they are wrong."""
    witness: str
    """The commonest passing wrong text of the last updates that had one; empty where none did."""
    problem: str
    """Id of the problem that it answers."""
    why: str = ""
    """The reason why training was cut short; empty when it was not."""
    interrupted: bool = False
    """True where the user ended it; what it had found until then was proven all the same."""

    @property
    def text(self) -> str:
        """One sentence for people."""
        if not self.curve:
            return f"{self.policy}: not trained ({self.why or 'nothing to train on'})"
        first, last = self.curve[0], self.curve[-1]
        told = "converged on" if self.converged else "did not converge on"
        return (
            f"{self.policy} ({self.parameters} parameters) {told} passing answers that are wrong: "
            f"{first.wrong:.0%} of rollouts at first, {last.wrong:.0%} after {len(self.curve)} "
            f"updates and {last.calls} runs"
        )

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {
            "policy": self.policy,
            "parameters": self.parameters,
            "converged": self.converged,
            "text": self.text,
            "witness": self.witness,
            "problem": self.problem,
            "why": self.why,
            "interrupted": self.interrupted,
            "curve": [point.to_json() for point in self.curve],
        }


def keep(discovery: Discovery, folder: Path) -> None:
    """Write the record into the audit's folder, as a whole. Raises StoreError."""
    text = json.dumps(discovery.to_json(), indent=1, allow_nan=False) + "\n"
    with storing(folder):
        write_whole(folder / _FILE, text.encode("utf-8", "backslashreplace"), mode=0o644)
