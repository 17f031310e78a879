"""verl's tool loop, for rollouts whose rewards need to know what the policy wrote itself.

verl hands its reward managers the ids of a whole response, the answers of tools among them, and no
response mask. A list of agent loops names this one:

    - name: unhack_tool_agent
      _target_: unhack.integrations.verl.tool_loop.TokenMaskedToolLoop

Rows choose it by their column `agent_name`; the list is the file that
`actor_rollout_ref.rollout.agent.agent_loop_config_path` names.

Covered: all that verl 0.9.1's own loop does; the mask travels in the rollout's extra fields.
Not covered: other loops; one of your own can set the extra field `batches.MASK` itself.
"""

from __future__ import annotations

import importlib
from typing import Any

from unhack.integrations.verl.batches import MASK

_loops: Any = importlib.import_module("verl.experimental.agent_loop.tool_agent_loop")


class TokenMaskedToolLoop(_loops.ToolAgentLoop):
    """verl's tool loop, which also tells the reward manager what the policy wrote itself.

    verl makes it, for rows whose column `agent_name` names its entry in the list of agent loops.

    Example:

        module = "unhack.integrations.verl.tool_loop"
        entry = {"name": "unhack_tool_agent", "_target_": f"{module}.TokenMaskedToolLoop"}
    """

    async def run(self, *arguments: Any, **row: Any) -> Any:
        """As verl's loop runs, with the response mask among the extra fields."""
        inherited: Any = super()
        output: Any = await inherited.run(*arguments, **row)
        output.extra_fields[MASK] = list(output.response_mask)
        return output
