"""A tiny random model that TRL can train in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from .tiny_model import make_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder."""
    return make_model(tmp_path_factory.mktemp("model"))
