"""Mode `session`: one reward function scores several completions side by side, as in a training
run: in one process, in another thread, all at once, or in one call.

    {"target", "how", "way", "steps", "forks", "environ", "awaited", "count"}
                                        [nonce, number of the step, seconds, "score", value, shape]
                                        [nonce, number, seconds, "raised", names, message]
                                        [nonce, number, seconds, "shape", text]
                                        [nonce, number, seconds, "timeout" or "ended", text]

    way      series   one after another              thread   the same, outside the main thread
             beside   all at once, in threads        batch    one step whose value has `count` items
    forks    each step in a process of its own, as scripts run; what they share is the disk
    awaited  how many steps, from the first, have to be done before the session may end
    step_s   series only: most seconds of a step; it is then run in a child (`watched_steps`)

A step holds what differs from call to call (see `reward.call`). Every line is written as soon as
its step is done: a step that ends the process does not take the earlier ones with it.

Covered: functions, methods, coroutines; scripts, with `forks` only.
Not covered: coroutines that share an event loop; frameworks' own process pools.
"""

from __future__ import annotations

import io
import os
import queue
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import Any, cast

from unhack.sandbox.guest.candidate import runner, serve
from unhack.sandbox.guest.reward import call, modules, multiprocessing_shim, watched_steps

_clock, _sleep, _thread = time.perf_counter, time.sleep, threading.Thread
_HEAD_START_S = 0.1
Line = list[Any]
_LISTS = ("rewards", "scores", "reward", "score", "reward_tensor")
"""Keys under which a batch's scores may stand."""


def run(job: dict[str, Any], channel: runner.Channel) -> int:
    """Mode `session`."""
    os.environ.update({**job["target"].get("environ", {}), **job.get("environ", {})})
    printed = io.StringIO()
    sys.stdout = sys.stderr = printed
    sys.executable = job["target"]["executable"]
    multiprocessing_shim.install()
    if job.get("forks"):
        lines = _fork_steps(job, channel)
    else:
        lines = _watched(job, channel, printed) if job.get("step_s") else _together(job, printed)
    for line in lines:
        channel.send([job["nonce"], *line])
        channel.flush()
    return 0


def _together(job: dict[str, Any], printed: io.StringIO) -> Iterator[Line]:
    module = modules.load(job["target"], job["how"])
    steps, way = job["steps"], job["way"]
    if way == "batch":
        yield from _batch({**job, **steps[0]}, printed, module)
    elif way == "series":
        yield from (_one(job, number, printed, module=module) for number in range(len(steps)))
    else:
        done: queue.SimpleQueue[Line] = queue.SimpleQueue()
        groups = [list(range(len(steps)))] if way == "thread" else _in_turn(job)
        for group in groups:
            _thread(target=_several, args=(job, group, printed, module, done), daemon=True).start()
        yield from _await_lines(done, job["awaited"])


def _watched(job: dict[str, Any], channel: runner.Channel, printed: io.StringIO) -> Iterator[Line]:
    module = modules.load(job["target"], job["how"])

    def step(number: int) -> None:
        channel.send([job["nonce"], *_one(job, number, printed, module=module)])
        channel.flush()

    yield from watched_steps.run(len(job["steps"]), step_s=job["step_s"], step=step)


def _in_turn(job: dict[str, Any]) -> Iterator[list[int]]:
    """The steps that are not awaited, and soon after all others."""
    awaited: int = job["awaited"]
    for number in range(awaited, len(job["steps"])):
        yield [number]
    _sleep(_HEAD_START_S if awaited < len(job["steps"]) else 0.0)
    for number in range(awaited):
        yield [number]


def _several(
    job: dict[str, Any],
    numbers: list[int],
    printed: io.StringIO,
    module: types.ModuleType,
    done: queue.SimpleQueue[Line],
) -> None:
    for number in numbers:
        done.put(_one(job, number, printed, module=module))


def _await_lines(done: queue.SimpleQueue[Line], count: int) -> Iterator[Line]:
    """Lines as they come, until the first `count` steps are among them."""
    missing = set(range(count))
    while missing:
        line = done.get()
        missing.discard(line[0])
        yield line


def _one(
    job: dict[str, Any], number: int, printed: io.StringIO, *, module: types.ModuleType | None
) -> Line:
    started = _clock()
    answer: Line
    try:
        value = call.call({**job, **job["steps"][number]}, printed, module=module)
        answer = call.answer_of(value)
    except BaseException as error:
        answer = ["raised", *serve.describe(error)]
    return [number, _clock() - started, *answer]


def _batch(job: dict[str, Any], printed: io.StringIO, module: types.ModuleType) -> Iterator[Line]:
    started = _clock()
    try:
        value = call.call(job, printed, module=module)
        found = _items(value, job["count"])
        answers = [call.answer_of(item) for item in found]
        if not answers:
            kind = type(value).__name__
            answers = [["shape", f"it returned a {kind} for {job['count']} completions"]]
    except BaseException as error:
        answers = [["raised", *serve.describe(error)]]
    for number in range(job["count"]):
        yield [number, _clock() - started, *answers[number % len(answers)]]


def _items(value: Any, count: int) -> list[Any]:
    """The item of a batch for each completion; empty when there is not one item for each."""
    if isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        value = next((fields[name] for name in _LISTS if name in fields), None)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return []
    items: list[Any] = list(cast("Any", value))
    return items if len(items) == count else []


# Scripts.


def _fork_steps(job: dict[str, Any], channel: runner.Channel) -> Iterator[Line]:
    """Each step's own process, and folder; the lines come from there."""
    running: dict[int, int] = {}
    steps, beside = job["steps"], job["way"] == "beside"
    order = (group[0] for group in _in_turn(job)) if beside else iter(range(len(steps)))
    for number in order:
        folder = f"{modules.HOME}/step{number}"
        os.mkdir(folder)
        pid = os.fork()
        if pid == 0:
            try:
                channel.send([job["nonce"], *_alone(job, steps[number], number, folder=folder)])
                channel.flush()
            finally:
                os._exit(0)
        running[pid] = number
        if not beside:
            os.waitpid(pid, 0)
    missing = set(range(job["awaited"])) if beside else set[int]()
    while missing:
        pid, _ = os.wait()
        missing.discard(running.get(pid, -1))
    yield from ()


def _alone(job: dict[str, Any], step: dict[str, Any], number: int, *, folder: str) -> Line:
    printed = io.StringIO()
    sys.stdout = sys.stderr = printed
    os.chdir(folder)
    sys.path.append(folder)
    call.lay_out({**job, **step}, folder)
    args = [_move_path(item, folder) for item in step["plan"]["args"]]
    moved = {**step, "plan": {**step["plan"], "args": args}}
    module = modules.load(job["target"], job["how"]) if job["target"]["entry"] else None
    return _one({**job, "steps": {number: moved}}, number, printed, module=module)


def _move_path(item: Any, folder: str) -> Any:
    """A path of the plan, in the step's folder."""
    if isinstance(item, list):
        return [_move_path(inner, folder) for inner in item]  # pyright: ignore[reportUnknownVariableType]
    at_home = isinstance(item, str) and item.startswith(f"{modules.HOME}/")
    return f"{folder}{item[len(modules.HOME) :]}" if at_home else item
