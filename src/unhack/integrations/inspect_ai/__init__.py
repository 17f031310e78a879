# pyright: basic
"""unhack in Inspect AI: the scorer `unhack/verdict` and the sandbox `unhack`.

Inspect reads this module by its entry point; it needs the package `inspect-ai`.
"""

from unhack.integrations.inspect_ai.provider import SealedSandbox, SealedSandboxConfig
from unhack.integrations.inspect_ai.scorer import verdict

__all__ = ["SealedSandbox", "SealedSandboxConfig", "verdict"]
