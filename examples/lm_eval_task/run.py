"""An lm-evaluation-harness task whose replies are judged sealed, in one batch.

    pip install 'unhack[lm-eval]'
    python examples/lm_eval_task/run.py     # the harness's dummy model; writes rows.jsonl here

With a model, once rows.jsonl is there:

    lm_eval --model hf --model_args pretrained=PATH --tasks unhack_strings \
        --include_path examples/lm_eval_task
"""

import json
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from unhack import find_tasks

rows = [{"task": task.id, "prompt": task.prompt} for task in find_tasks("strings")]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
manager = TaskManager(include_path=str(Path(__file__).parent), include_defaults=False)
found = simple_evaluate(model="dummy", tasks=["unhack_strings"], task_manager=manager)
results = found["results"]["unhack_strings"]
for name in ("reward", "passed", "unscored"):
    print(name, float(results[f"{name},sealed"]))
