"""Claims about slots: bounded, and fair between tenants."""

from __future__ import annotations

import asyncio
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.server.scoring.fair_semaphore import FairSemaphore


def test_a_tenant_with_many_items_holds_up_another_by_one_slot() -> None:
    served: list[int] = []

    async def item(semaphore: FairSemaphore, tenant: int) -> None:
        await semaphore.acquire(tenant)
        served.append(tenant)
        await asyncio.sleep(0)
        semaphore.release(tenant)

    async def main() -> None:
        semaphore = FairSemaphore(1)
        async with asyncio.TaskGroup() as group:
            for _ in range(50):
                group.create_task(item(semaphore, 1))
            await asyncio.sleep(0)
            for _ in range(5):
                group.create_task(item(semaphore, 2))

    asyncio.run(main())
    assert Counter(served) == {1: 50, 2: 5}
    assert served.index(2) <= 3
    last = len(served) - served[::-1].index(2)
    assert last <= 14  # in turn, until the second tenant has nothing left


def test_one_tenant_leaves_slots_for_others() -> None:
    async def main() -> None:
        semaphore = FairSemaphore(8)
        for _ in range(6):
            await semaphore.acquire(1)
        seventh = asyncio.create_task(semaphore.acquire(1))
        await asyncio.sleep(0)
        assert not seventh.done()
        await asyncio.wait_for(semaphore.acquire(2), 10)
        semaphore.release(1)
        await asyncio.wait_for(seventh, 10)
        assert semaphore.taken == 7

    asyncio.run(main())


@settings(max_examples=60, deadline=None)
@given(
    places=st.integers(1, 6),
    steps=st.lists(st.tuples(st.sampled_from("elc"), st.integers(0, 3)), max_size=60),
)
def test_places_are_never_lost_nor_given_twice(places: int, steps: list[tuple[str, int]]) -> None:
    """Enter, leave and cancel in any order; then everybody who still waits gets in."""

    async def main() -> None:
        semaphore = FairSemaphore(places)
        inside: list[int] = []
        waiting: list[tuple[int, asyncio.Task[None]]] = []

        def settle() -> None:
            for pair in [pair for pair in waiting if pair[1].done()]:
                waiting.remove(pair)
                inside.append(pair[0])

        for what, tenant in steps:
            if what == "e":
                waiting.append((tenant, asyncio.create_task(semaphore.acquire(tenant))))
            elif what == "l" and inside:
                semaphore.release(inside.pop(tenant % len(inside)))
            elif what == "c" and waiting:
                gone = waiting.pop(tenant % len(waiting))[1]
                gone.cancel()
                await asyncio.gather(gone, return_exceptions=True)
            for _ in range(3):
                await asyncio.sleep(0)
            settle()
            assert len(inside) == semaphore.taken <= places
        while waiting or inside:
            if inside:
                semaphore.release(inside.pop())
            for _ in range(3):
                await asyncio.sleep(0)
            settle()
        assert semaphore.taken == 0

    asyncio.run(main())
