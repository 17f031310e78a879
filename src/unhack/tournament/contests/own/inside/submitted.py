"""The entry module of a submission's process: loads `solution` beside the contest's packages.

Nothing here is trusted: the submission runs in this very process. It stands alone in its folder,
away from the author's files, which this process does not have.
"""

from __future__ import annotations

import importlib.util
import os
import sys

FOLDER, PACKAGES = "/submission", "/packages"


def _load(name: str) -> None:
    """Load the submission's main file and show what it defines as if it stood here."""
    for package in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{package}_NUM_THREADS"] = "1"  # read when a numerical library is loaded
    if os.path.isdir(PACKAGES):
        sys.path.append(PACKAGES)
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("solution", os.path.join(FOLDER, name))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["solution"] = module
    spec.loader.exec_module(module)
    globals().update({key: value for key, value in vars(module).items() if key[:1] != "_"})


with open(os.path.join(os.path.dirname(__file__), "entry.txt"), encoding="utf-8") as _file:
    _load(_file.read())
