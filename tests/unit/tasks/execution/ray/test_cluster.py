"""Claims about addresses of a Ray: what cannot be joined is told at once, with what to do."""

from __future__ import annotations

import socket

import pytest

from unhack.core.errors import UsageError
from unhack.tasks.execution.ray.cluster import RayCluster, check_reachable, joining


@pytest.fixture
def free_port() -> int:
    """A port at which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "[::1]:{}"])
def test_an_address_at_which_nothing_listens_is_told(form: str, free_port: int) -> None:
    address = form.format(free_port)
    with pytest.raises(UsageError, match=r"no Ray answers at .*ray start --head") as told:
        check_reachable(address)
    assert address in str(told.value)


@pytest.mark.parametrize("address", ["no-such-host.invalid:6379", "127.0.0.1:99999"])
def test_a_host_or_port_that_is_none_is_told(address: str) -> None:
    with pytest.raises(UsageError, match="no Ray answers at"):
        check_reachable(address)


def test_what_listens_and_what_is_no_place_is_left_to_ray() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        check_reachable(f"127.0.0.1:{listening.getsockname()[1]}")
    for address in ("auto", "local", "nonsense", "anyscale://a/b"):
        check_reachable(address)


@pytest.mark.parametrize(
    "error", [RuntimeError("Version mismatch: 2.9"), ConnectionError("no"), ValueError("Invalid")]
)
def test_a_ray_that_cannot_be_joined_is_a_mistake_with_its_words(error: Exception) -> None:
    words = r"could not join the Ray at head:1: .*versions"
    with pytest.raises(UsageError, match=words) as told, joining("head:1"):
        raise error
    assert str(error) in str(told.value)


def test_an_address_that_is_none_ends_no_batch_with_a_trace() -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    with pytest.raises(UsageError, match="could not join the Ray at nonsense"):
        RayCluster("nonsense")
