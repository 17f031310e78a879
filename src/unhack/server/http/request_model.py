"""Bodies of requests: a field that is not known is refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RequestModel(BaseModel):
    """A body, or a part of one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
