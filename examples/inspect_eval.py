"""An evaluation in Inspect AI: sealed verdicts, and a sealed sandbox for what the model runs.

pip install 'unhack[inspect]'
inspect eval examples/inspect_eval.py --model openai/gpt-4o     # or any other
python examples/inspect_eval.py                                # a scripted model, offline
"""

from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage
from inspect_ai.solver import basic_agent, generate
from inspect_ai.tool import bash

from unhack import find_tasks
from unhack.integrations.inspect_ai import verdict

TASKS = find_tasks("strings")


@task
def strings(agent: bool = False) -> Task:
    """Small programs; with `-T agent=true` the model may run commands before it answers."""
    samples = [
        Sample(input=one.prompt, id=str(at), metadata={"task": one.id})
        for at, one in enumerate(TASKS)
    ]
    solver = basic_agent(tools=[bash(timeout=60)]) if agent else generate()
    return Task(samples, solver=solver, scorer=verdict(), sandbox="unhack")


def scripted() -> list[ModelOutput]:
    """What a model says that knows every second task."""
    outputs = []
    for at, one in enumerate(TASKS):
        text = str(one.problem.reference) if at % 2 else "I do not know."
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        outputs.append(output)
    return outputs


if __name__ == "__main__":
    given = {"custom_outputs": scripted()}
    [log] = eval(strings(), model="mockllm/model", model_args=given, max_samples=1, display="none")
    print(log.status, log.results.scores[0].metrics["accuracy"].value)
