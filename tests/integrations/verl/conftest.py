"""verl's modules warn while they are imported, and warnings are errors here."""

from __future__ import annotations

import importlib
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    importlib.import_module("verl.experimental.reward_loop")
    importlib.import_module("verl.experimental.agent_loop.tool_agent_loop")
