"""The packages of routing: asked for before anything that imports it."""

from __future__ import annotations

from unhack.core.optional_dependencies import require

NEEDED = ("torch", "safetensors")
"""Packages without which `unhack.routing` cannot be imported."""

require("train", *NEEDED, purpose="unhack.routing")
