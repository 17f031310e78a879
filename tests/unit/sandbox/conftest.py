"""A pool of two slots: claims about the sandbox are claims about jobs beside each other."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

import pytest

from unhack.sandbox.pool.pool import Pool


@pytest.fixture(scope="session")
def pool() -> Generator[Pool]:
    """What all tests of the room share."""
    with closing(Pool(slots=2)) as made:
        yield made
