"""Tasks as a request names them, as the database keeps them, and as the judge wants them.

A task of the catalogue is kept as its id. One that came with a request is kept once for each
tenant, under the hash of its JSON, and named by it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict

from pydantic import TypeAdapter

from unhack.core.errors import UsageError
from unhack.server.http.problems import RequestRefused
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
_KEPT = 256
"""Inline tasks that are kept ready."""


class TaskNames:
    """The tasks of all tenants of one server."""

    def __init__(self, catalogue: Catalogue, store: BatchStore) -> None:
        self.catalogue = catalogue
        self._store = store
        self._ready: OrderedDict[tuple[int, str], Task] = OrderedDict()

    async def name(self, tenant_id: int, task: str | AnyInline, *, field: str = "task") -> str:
        """The task's name in the database, where an inline one is stored by now.

        Raises RequestRefused (422) for an unknown task and for one that cannot be built.
        """
        if isinstance(task, str):
            try:
                self.catalogue.find(task)
            except UsageError as error:
                raise RequestRefused(422, "invalid", f"{field}: {error}", field=field) from None
            return json.dumps(task)
        body = task.model_dump_json()
        digest = hashlib.sha256(body.encode()).hexdigest()
        if (tenant_id, digest) not in self._ready:
            built = await asyncio.to_thread(build_inline, task, f"inline/{digest[:12]}")
            await asyncio.wrap_future(self._store.keep_task(tenant_id, digest, body))
            self._keep(tenant_id, digest, built)
        return json.dumps({"inline": digest})

    def find(self, tenant_id: int, name: str) -> Task:
        """The task of a name in the database. Raises UsageError for one that is gone."""
        named = json.loads(name)
        if isinstance(named, str):
            return self.catalogue.find(named)
        digest = str(named["inline"])
        found = self._ready.get((tenant_id, digest))
        if found is None:
            body = self._store.task_body(tenant_id, digest)
            if body is None:
                raise UsageError("the task of this item is gone")
            found = build_inline(_READ.validate_json(body), f"inline/{digest[:12]}")
            self._keep(tenant_id, digest, found)
        return found

    def _keep(self, tenant_id: int, digest: str, task: Task) -> None:
        self._ready[tenant_id, digest] = task
        if len(self._ready) > _KEPT:
            self._ready.popitem(last=False)
