"""Headings of the options of `unhack audit` in its help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

AUDIT_HEADINGS: Mapping[str, Sequence[str]] = {
    "Attacks and budget": (
        "tiers", "calls", "seconds", "tier_limits", "stop_at_first", "thorough", "seed",
    ),
    "Language model (tiers 2 and 3) and trained policy (tier 5)": (
        "llm_model", "llm_url", "llm_key_env", "llm_protocol", "llm_prices", "llm_cost", "model",
    ),
    "Detection power": ("power", "power_seconds"),
    "Output": ("as_json", "verbose", "github", "sarif", "html", "pairs", "write_tests"),
    "Fix": ("fix", "force"),
    "Hacker, fixer and solver in turn": (
        "harden", "agent", "agent_option", "white_box", "cost", "sibling", "patches",
    ),
    "Exit code": ("strict", "allow_unproven"),
    "Resuming": ("run",),
    "Image of a Harbor folder": ("base", "builder", "builder_option"),
}  # fmt: skip
"""Names of parameters by heading; others stand under `Options`."""
