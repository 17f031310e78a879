"""The machine that a figure was measured on, in a few words."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine_name() -> str:
    """Processor, cores this process may use, kernel and Python."""
    cores = len(os.sched_getaffinity(0))
    noun = "core" if cores == 1 else "cores"
    system = f"{platform.system()} {platform.release()}"
    return f"{_processor()}, {cores} {noun}, {system}, Python {platform.python_version()}"


def _processor() -> str:
    """The processor's name as the kernel gives it, else its architecture."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.machine() or "unknown processor"
