"""Tasks as a request names them, as the database keeps them, and as the judge wants them.

A task of the catalogue is kept as its id. One that came with a request is kept once for each
tenant, under the hash of its JSON, and named by it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from pydantic import TypeAdapter

from unhack.core.errors import UsageError
from unhack.server.http.problems import invalid, is_lack
from unhack.server.scoring.batch_store import BatchStore
from unhack.server.scoring.catalogue import Catalogue
from unhack.server.scoring.inline import (
    InlineFunction,
    InlineProgram,
    InlineTask,
    InlineText,
    build_inline,
)
from unhack.tasks.task import Task

AnyInline = InlineFunction | InlineProgram | InlineText
_READ: TypeAdapter[AnyInline] = TypeAdapter(InlineTask)
_KEPT, _KEPT_BYTES = 256, 32 << 20
"""Inline tasks that are kept ready, and the length of their JSON together."""
_USED_S = 3600.0
"""Seconds for which the use of a task is not written down again."""


@dataclass(frozen=True, slots=True)
class _Ready:
    task: Task
    size: int
    """Characters of its JSON."""
    noted: float = -_USED_S
    """The time at which its use was written down, on the clock of `time.monotonic`."""


class TaskNames:
    """The tasks of all tenants of one server."""

    def __init__(self, catalogue: Catalogue, store: BatchStore) -> None:
        self.catalogue = catalogue
        self._store = store
        self._ready: OrderedDict[tuple[int, str], _Ready] = OrderedDict()
        self._lock = threading.Lock()

    async def name(self, tenant_id: int, task: str | AnyInline, *, field: str = "task") -> str:
        """The task's name in the database, where an inline one is stored by now.

        Raises RequestRefused (422) for an unknown task and for one that cannot be built.
        """
        if isinstance(task, str):
            try:
                self.catalogue.find(task)
            except UsageError as error:
                if is_lack(error):  # the server's fault, not the client's
                    raise
                raise invalid(field, str(error)) from None
            return json.dumps(task)
        body = task.model_dump_json()
        digest = hashlib.sha256(body.encode()).hexdigest()
        known = self._find_ready(tenant_id, digest)
        if known is None or time.monotonic() - known.noted >= _USED_S:
            now = time.monotonic()
            if known is None:
                built = await asyncio.to_thread(build_inline, task, f"inline/{digest[:12]}")
            else:
                built = known.task
            await asyncio.wrap_future(self._store.keep_task(tenant_id, digest, body))
            self._keep(tenant_id, digest, _Ready(built, len(body), now))
        return json.dumps({"inline": digest})

    async def at_hand(self, tenant_id: int, name: str) -> Task:
        """As `find`, without holding up the event loop where the database is asked."""
        named = json.loads(name)
        if isinstance(named, str) or self._find_ready(tenant_id, str(named["inline"])):
            return self.find(tenant_id, name)
        return await asyncio.to_thread(self.find, tenant_id, name)

    def find(self, tenant_id: int, name: str) -> Task:
        """The task of a name in the database. Raises UsageError for one that is gone."""
        named = json.loads(name)
        if isinstance(named, str):
            return self.catalogue.find(named)
        digest = str(named["inline"])
        ready = self._find_ready(tenant_id, digest)
        if ready is None:
            body = self._store.task_body(tenant_id, digest)
            if body is None:
                raise UsageError("the task of this item is gone")
            built = build_inline(_READ.validate_json(body), f"inline/{digest[:12]}")
            ready = _Ready(built, len(body))
            self._keep(tenant_id, digest, ready)
        return ready.task

    def _find_ready(self, tenant_id: int, digest: str) -> _Ready | None:
        with self._lock:
            found = self._ready.get((tenant_id, digest))
            if found is not None:
                self._ready.move_to_end((tenant_id, digest))
            return found

    def _keep(self, tenant_id: int, digest: str, ready: _Ready) -> None:
        """Keep a task, and let go of those that were not asked for the longest."""
        with self._lock:
            self._ready[tenant_id, digest] = ready
            self._ready.move_to_end((tenant_id, digest))
            size = sum(each.size for each in self._ready.values())
            while len(self._ready) > 1 and (len(self._ready) > _KEPT or size > _KEPT_BYTES):
                size -= self._ready.popitem(last=False)[1].size
