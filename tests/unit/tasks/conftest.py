"""A pool of two slots: claims about tasks are claims about jobs beside each other."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from unhack.sandbox.pool import shared
from unhack.sandbox.pool.pool import Pool


@pytest.fixture(scope="session")
def pool() -> Generator[Pool]:
    """What all tests of the room share."""
    with shared.pool(slots=2) as made:
        yield made
