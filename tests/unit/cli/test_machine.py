from __future__ import annotations

import os
import platform

from unhack.cli.demo.command import machine_name


def test_the_machine_is_named_by_cores_kernel_and_python() -> None:
    name = machine_name()
    assert f"{len(os.sched_getaffinity(0))} core" in name
    assert platform.release() in name
    assert name.endswith(f"Python {platform.python_version()}")
