"""A taskset of one's own in verifiers, scored by a sealed reward that its configuration plugs in.

    pip install 'unhack[verifiers]'
    python examples/verifiers_reward.py     # scores two traces; no model, no GPU

In a run, the same by flags:

    vf-eval my-taskset --env.taskset.task.rewards.sealed.fn \
        unhack.integrations.verifiers.reward:sealed
"""

import asyncio

import verifiers.v1 as vf

from unhack import find_tasks

[KNIT] = find_tasks("strings/knit-rows")
REWARD = {"fn": "unhack.integrations.verifiers.reward:sealed", "weight": 1.0}


class MyData(vf.TaskData):
    unhack_task: str


async def main() -> None:
    data = MyData(prompt=KNIT.prompt, unhack_task=KNIT.id)
    task = vf.Task(data, vf.TaskConfig(rewards={"sealed": REWARD}))
    for name, reply in (("right", str(KNIT.problem.reference)), ("wrong", "I do not know.")):
        trace = vf.Trace.model_construct(root_reply=reply, rewards={}, metrics={}, nodes=[])
        await task.score(trace)
        print(name, trace.reward)


asyncio.run(main())
