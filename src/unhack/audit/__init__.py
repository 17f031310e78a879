"""Audit: prove that a verifier can be gamed, or say what was tried in vain.

    from unhack.audit import AuditOptions, audit, load_subject

    report = audit(load_subject("reward.py:score", problems=Path("rows.jsonl")))
    report.conclusion, report.findings

Names are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unhack.agents.language_models.endpoint import Endpoint
    from unhack.agents.language_models.model import Model
    from unhack.audit.language_models.attacker import ModelAttacker
    from unhack.audit.options import AuditOptions, TierLimit
    from unhack.audit.report.report import AuditReport, Conclusion
    from unhack.audit.runner import audit
    from unhack.audit.subjects.from_memory import subject_from_memory
    from unhack.audit.subjects.loading import load_subject
    from unhack.core.finding import ExpectedReward, Finding, FindingKind, Severity

__all__ = [
    "AuditOptions",
    "AuditReport",
    "Conclusion",
    "Endpoint",
    "ExpectedReward",
    "Finding",
    "FindingKind",
    "Model",
    "ModelAttacker",
    "Severity",
    "TierLimit",
    "audit",
    "load_subject",
    "subject_from_memory",
]

_HOMES = {
    "AuditOptions": "audit.options",
    "AuditReport": "audit.report.report",
    "Conclusion": "audit.report.report",
    "Endpoint": "agents.language_models.endpoint",
    "Finding": "core.finding",
    "FindingKind": "core.finding",
    "Model": "agents.language_models.model",
    "ModelAttacker": "audit.language_models.attacker",
    "ExpectedReward": "core.finding",
    "Severity": "core.finding",
    "TierLimit": "audit.options",
    "audit": "audit.runner",
    "load_subject": "audit.subjects.loading",
    "subject_from_memory": "audit.subjects.from_memory",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'unhack.audit' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"unhack.{home}"), name)
    globals()[name] = value
    return value
