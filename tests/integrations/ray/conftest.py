"""A Ray of several raylets of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from unhack.tasks.execution.ray.executor import RayExecutor

from .card_cluster import CardsOnRay
from .lost_nodes import START_S, patiently


@pytest.fixture(scope="session")
def client_port() -> int:
    """Where the head serves Ray's client protocol."""
    return 25_000 + os.getpid() % 5_000


@pytest.fixture(scope="session")
def cluster(client_port: int) -> Iterator[Any]:
    """A head that offers no core, and two nodes with one each."""
    head = {"num_cpus": 0, "include_dashboard": False, "ray_client_server_port": client_port}
    with pytest.MonkeyPatch.context() as patch:
        # The head gives a server of its client protocol 30 s to come up.
        patch.setenv("RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S", f"{START_S:.0f}")
        made = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    for _ in range(2):
        patiently(lambda: made.add_node(num_cpus=1))
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="session")
def executor(cluster: Any) -> Iterator[RayExecutor]:
    """An executor on that cluster, which takes a node that is silent for 30 s for dead."""
    made = RayExecutor(patience_s=START_S, silence_s=30.0)
    yield made
    made.close()
    assert ray.is_initialized(), "a Ray that the executor did not start was shut down"


@pytest.fixture
def cards(tmp_path: Path) -> Iterator[CardsOnRay]:
    """A Ray without a card so far."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path / "cards"
        folder.mkdir()
        made = CardsOnRay(folder, patch)
        yield made
        made.close()
