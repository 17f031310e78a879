"""Every record that the measurements page is made of: the command that makes it, and its needs.

`make bench` runs the records without needs; they take two CPU cores and nothing from a network.
"""

from __future__ import annotations

from dataclasses import dataclass

from measure import summary


@dataclass(frozen=True)
class Record:
    """One result: `results/NAME.json`."""

    name: str
    command: str
    needs: str = ""
    """Beyond two CPU cores and `make test`'s environment; empty for what `make bench` runs."""

    @property
    def words(self) -> list[str]:
        """The command, split."""
        return self.command.split()


_WHOLE = (
    Record("train_matrix", "python benchmarks/train_matrix.py", "all runs of matrix and shared"),
    Record("train_matrix_large", "python benchmarks/train_matrix.py --large", "all runs of large"),
    Record("train_where", "python benchmarks/train_matrix.py --where", "all runs of where"),
    Record(
        "train_where_runs",
        "python benchmarks/matrix_runs.py RUNS --machine TEXT",
        "the plans of `experiments/where` swept into RUNS/where/PLAN: 244 runs",
    ),
)
"""Results of registered claims, which are there once all of their runs are."""
RECORDS = (
    Record("fork_cost", "python benchmarks/fork_cost.py --rounds 5 --n 400"),
    Record("cold_start", "python benchmarks/cold_start.py --rounds 15"),
    Record("straggler", "python benchmarks/straggler.py --rounds 15"),
    Record("scaling", "python benchmarks/scaling.py --items 1000 10000 100000"),
    Record(
        "many_cores",
        "taskset -c 0-15 python benchmarks/many_cores.py --part scaling --rounds 2 --seconds 2 "
        "--counts 1 15 --out many_cores.json",
        "16 cores or more to itself",
    ),
    Record(
        "many_cores_32",
        "python benchmarks/many_cores.py --part scaling --rounds 4 --seconds 1.5 --counts 1 30 "
        "--out many_cores_32.json",
        "32 cores to itself",
    ),
    Record(
        "many_cores_64",
        "python benchmarks/many_cores.py --part scaling --rounds 1 --seconds 2 --counts 1 60 "
        "--out many_cores_64.json",
        "64 cores to itself",
    ),
    Record(
        "many_cores_forks",
        "python benchmarks/many_cores.py --part kernel --out many_cores_forks.json",
        "16 cores or more to itself",
    ),
    Record(
        "ray_overhead",
        "python benchmarks/ray_overhead.py --items 10000 --rounds 3 --slots 2",
        "Ray (extra `ray`)",
    ),
    Record(
        "server_load",
        "python benchmarks/server_load.py --in-flight 2000 --pairs 1000 --hour 36000 --save",
    ),
    Record("humaneval_fidelity", "python benchmarks/humaneval_fidelity.py"),
    Record("reasoning_gym", "python benchmarks/reasoning_gym_scored.py"),
    Record("audit_quality", "python benchmarks/audit_quality.py"),
    Record(
        "audit_discovery",
        "python benchmarks/audit_discovery.py --summary",
        "rows of earlier calls, as its first lines say; released packages that are installed",
    ),
    Record("audit_fixes", "python benchmarks/audit_fixes.py"),
    Record("environment_attacks", "python benchmarks/environment_attacks.py"),
    Record("derivations_checked", "python benchmarks/derivations_checked.py"),
    Record("workspaces", "python benchmarks/workspaces.py --rounds 3 --n 200"),
    Record("episode_soak", "python benchmarks/episode_soak.py --episodes 3000 --seed 1"),
    Record("soak", "python benchmarks/soak.py --jobs 100000 --seed 1"),
    Record("repos_suite", "python benchmarks/repos_suite.py --workers 7"),
    Record("tournament_corpus", "python benchmarks/tournament_corpus.py --save"),
    Record(
        "tournament_scaling",
        "python benchmarks/tournament_scaling.py --worlds 3 --size demo --device cpu --save",
        "PyTorch",
    ),
    Record(
        "tournament_headroom",
        "python benchmarks/tournament_headroom.py reward_hacking track=harden role=patch "
        "--draws 5 --save",
    ),
    Record(
        "tournament_attacks",
        "python benchmarks/tournament_attacks.py --draws 5 --odd-draws 2 --jobs 1 --save",
    ),
    Record("tournament_faults", "python benchmarks/tournament_faults.py --kills 200 --save"),
    Record(
        "train_routing_cost",
        "python benchmarks/train_routing_cost.py --device cpu --precision float32 --rounds 10",
    ),
    Record(
        "scoring_speed",
        "python benchmarks/scoring_speed.py --rounds 5 --n 2000",
        "seven peers from an index: first `python benchmarks/peers/setup_peers.py`",
    ),
    Record(
        "audit_peers",
        "python benchmarks/audit_peers.py",
        "two peers from an index, which it installs",
    ),
    Record(
        "audit_real",
        "python benchmarks/audit_real.py",
        "the audited packages from an index, which it installs",
    ),
    Record(
        "corpus_reading",
        "python benchmarks/corpus_reading.py TERMINAL KERNELS",
        "two public repositories of Harbor tasks, as its first lines say",
    ),
    Record(
        "repository_judging",
        "python benchmarks/repository_judging.py FOLDER --tests 16 --save",
        "the source archives of the packages from an index, unpacked",
    ),
    Record(
        "verl_batches",
        "python benchmarks/verl_batches.py --rounds 3 --save",
        "the environment that `tests/integrations/run_stacks.py verl` makes",
    ),
    Record(
        "train_throughput",
        "python benchmarks/train_throughput.py --save",
        "TRL from an index, which it installs",
    ),
    Record(
        "train_data_parallel",
        "python benchmarks/train_data_parallel.py --device cuda --size large --steps 20",
        "two GPUs",
    ),
    Record(
        "tournament_gpu_kernels",
        "python benchmarks/tournament_gpu_kernels.py",
        "a GPU, Triton and nvcc",
    ),
    Record("train_loopholes", "make experiment-full", "621 runs: hours on two cores"),
    Record(
        "train_together",
        "unhack train sweep experiments/together.toml --out RUNS",
        "360 runs: 1 h 42 min on two cores",
    ),
    Record(
        "train_powered",
        "unhack train sweep experiments/powered-controls.toml --out RUNS && "
        "unhack train sweep experiments/powered.toml --out RUNS",
        "282 runs: 1 h 20 min on two cores",
    ),
    Record(
        "train_bases",
        "unhack train base --set model.base_seed=N --set world.modes=MODES --json",
        "a quarter of an hour a base on two busy cores",
    ),
    Record(
        "train_matrix_runs",
        "python benchmarks/matrix_runs.py RUNS --machine TEXT",
        "the plans `experiments/matrix*.toml` swept into RUNS/matrix, RUNS/shared and "
        "RUNS/shortcuts: 560 runs",
    ),
    Record(
        "train_large_runs",
        "python benchmarks/matrix_runs.py RUNS --machine TEXT",
        "the plan `experiments/matrix-large.toml` swept into RUNS/large, on a GPU: 108 runs",
    ),
    *(record for record in _WHOLE if summary(record.name)),
    Record(
        "train_matrix_cost",
        "python benchmarks/matrix_cost.py RUNS/large --machine TEXT",
        "the plan `experiments/matrix-large.toml` swept into RUNS/large, on a GPU",
    ),
    Record(
        "leak_alarm",
        "python benchmarks/leak_alarm.py RUNS... --first BASE... --machine TEXT",
        "finished runs, with their checkpoints or scores of the alarm",
    ),
    Record(
        "leak_alarm_fresh",
        "python benchmarks/leak_alarm_fresh.py RUNS --machine TEXT",
        "the plan `experiments/journal/2026-11/11-alarm-fresh.toml` swept into RUNS, also with "
        "`gate.constant` 0.2, and `real` of `experiments/matrix-large.toml` with fresh seeds",
    ),
    Record(
        "leak_controller",
        "python benchmarks/leak_controller.py RUNS --machine TEXT",
        "the plans of `experiments/controller` swept into RUNS/PLAN: 95 runs",
    ),
    Record(
        "trl_routed",
        "python benchmarks/trl_routed.py --out RUNS --summary",
        "the same command without `--summary` before it: 26 runs, about a minute of CPU each; TRL",
    ),
    Record(
        "train_turns",
        "python benchmarks/train_turns.py experiments/turns.toml --out RUNS",
        "24 runs: about half a minute of CPU each",
    ),
    Record(
        "train_pumped",
        "python benchmarks/train_turns.py experiments/pumped.toml --out RUNS",
        "24 runs: about a quarter of a minute of CPU each",
    ),
)
