"""Only the stacks that this environment has are collected; `run_stacks.py` makes one for each."""

from __future__ import annotations

import importlib.metadata
import os
import tomllib
from pathlib import Path
from typing import Any


def _is_missing(stack: dict[str, Any]) -> bool:
    if stack.get("source"):
        return "UNHACK_STACK_SOURCE" not in os.environ
    try:
        importlib.metadata.version(stack["package"])
    except importlib.metadata.PackageNotFoundError:
        return True
    return False


collect_ignore = [
    path.parent.name
    for path in Path(__file__).parent.glob("*/stack.toml")
    if _is_missing(tomllib.loads(path.read_text()))
]
