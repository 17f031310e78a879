"""The training loop: sample, score, gate, loss, backward, route, step.

One loop serves every arm. Without a gate the fractions are 0 and the deployed block alone trains;
with one the quarantine takes its share. What an arm changes lies in what the loop calls: the
world's prompts, the baseline that estimates, the gate, the optimiser.

Covered: every objective of `objectives`, several updates per batch, interrupted runs (the files are
those of a run that never stopped, but for times), `torchrun`. Not covered: measuring (`evaluate`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from unhack.training.config.settings import Settings
from unhack.training.loop.distributed import ranks
from unhack.training.loop.sampling import sample_batch
from unhack.training.loop.session import has_ended, open_session
from unhack.training.loop.step_summary import Done, gate_line, read_leak, summarise_step
from unhack.training.loop.update import NOTHING, backward, estimate, recentre_kept, take_step
from unhack.training.routing.split import route
from unhack.training.run.step_record import StepRecord

Watch = Callable[[StepRecord], None]
"""Called after each step."""


def train(settings: Settings, folder: Path, *, watch: Watch | None = None) -> None:
    """Train a policy, or go on training it, into a run folder.

    A run that ended is left alone. Raises UsageError for settings that do not go together or that
    differ from those of the folder, StoreError, BatchUnscoredError where judging broke.
    """
    if has_ended(folder, settings):
        return
    with ranks(settings.model.device) as here, open_session(settings, folder, here) as run:
        source, group, per_knob = run.source, settings.rollouts.group, settings.objective.per_knob
        shared, action = settings.optimiser.shared_moments, settings.gate.action
        while run.step < settings.run.steps and not run.stopped:
            began, step = time.perf_counter(), run.step
            monitor = run.monitor(step)

            # Sample and judge.
            sampled = sample_batch(source, step)
            claimed = read_leak(source, sampled.batch, step=step)
            estimated = estimate(source, sampled.batch)
            updating = time.perf_counter()
            done: list[Done] = []
            for _ in range(settings.objective.updates_per_batch):
                # Score, loss and backward: one gradient per rollout.
                update = backward(source, estimated, step=step)
                view, routing = update.view, NOTHING
                if view is not None:
                    # Gate: how much of each rollout's gradient goes to the quarantine.
                    gated = run.gate(view)
                    gated = recentre_kept(gated, view, group=group) if per_knob else gated

                    # Route: both blocks' gradients.
                    routing = route(
                        view.gradients, gated, run.adapters, view=view, totals=shared,
                        action=action,
                    )  # fmt: skip

                # Step, all ranks alike.
                whole = estimated.whole
                stepped = take_step(source, run.optimiser, routing, whole=whole, step=step)
                done.append(Done(sampled, estimated, update, routing, stepped))

            # Note.
            now = time.perf_counter()
            record = replace(
                summarise_step(done[0], settings, here, step=step),
                claimed=claimed,
                seconds=now - began,
                seconds_sample=sampled.seconds_sample,
                seconds_judge=sampled.seconds_judge,
                seconds_update=now - updating,
                monitor=monitor,
            )
            record = run.complete_step(
                record, gate_line(done[0].routing, here, step=step), rollouts=done[0]
            )
            if watch is not None:
                watch(record)
        run.monitor(run.step)
        run.end()
