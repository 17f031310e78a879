"""The checks for sandboxes that Inspect AI ships, on ours."""

from __future__ import annotations

import pytest
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from unhack.integrations.inspect_ai import SealedSandbox

XFAIL = {"test_exec_as_user": "commands run as one user; there is no other, and no root"}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture
async def sandbox_env(request, anyio_backend):
    reason = XFAIL.get(request.node.originalname)
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    environments = await SealedSandbox.sample_init("self_check", None, {})
    yield environments["default"]
    await SealedSandbox.sample_cleanup("self_check", None, environments, False)


pytestmark = pytest.mark.anyio
