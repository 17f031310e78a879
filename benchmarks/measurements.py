"""The measurements page: every figure with its machine and the record that it stands in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import audit_scores
import matrix_runs
from catalogue import RECORDS
from matrix_tests import rules_of
from measure import host, rows_of, summary

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "measurements.md"
ARMS = ("real", "vanilla", "replay", "placebo", "shrink", "ceiling")
"""The arms of an experiment that the page shows."""
_HEAD = """\
# Measurements

Every figure with the machine that it was taken on and the record that it stands in; the
[last table](#records) says how each record is made. `python benchmarks/figures.py` writes the page
from `benchmarks/results/`. A figure is a median with its range, unless it says otherwise. Machines
were shared and noisy: take ratios, which come from interleaved runs, before absolute numbers.

`make bench` makes the records that two CPU cores can make without a network; the others say what
they need.
"""
_ROUTING = """
Held-out hack / solve of the deployed models, means over runs of the world `programs`; 0.1M
parameters and four hack modes, of which the pairs show two, where a row says nothing else.
[Results](../explanation/routing-results.md) explains arms and claims.

{table}

An independent replication stands beside these: at 55M parameters, on one base model and one NVIDIA
H100, with the gate of `experiments/powered.toml` and a rate of 1e-4, a placebo direction and a
filter (what the gate picks is dropped, and no quarantine acts) did as well as the real direction,
three seeds each: held-out hacks 0.018 real, 0.010 placebo, 0.008 filter, 0.437 plain training. Its
record is not kept here. No figure above says that it is the direction, or the quarantine, at that
size.
"""
_RECORDS = """
## Records

Summaries are in `benchmarks/results/`; a command writes its full record to
`benchmarks/results/full/`, which git ignores.

{table}
"""
_MATRIX = {
    "train_matrix": "0.1M parameters, 14 choices of two known modes of six",
    "train_matrix_large": "55M parameters, twelve seeds",
    "train_where": "0.1M parameters, `experiments/where`",
}
"""Results of registered claims, and what they are about."""
_EXPERIMENTS = {
    "train_powered": "three tenths of the rewarded rollouts routed, 66 pairs for the placebo",
    "train_together": "three tenths, every control on the same fresh seeds",
    "train_loopholes": "two fifths of the rewarded rollouts routed, every arm",
}


class Row(NamedTuple):
    """One line of a table."""

    what: str
    figure: str
    record: str


def span(values: dict[str, float], digits: int = 0) -> str:
    """Median and range."""
    low, high = values["min"], values["max"]
    return f"{values['median']:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def speed() -> list[Row]:
    """Our rate, each peer's ratios, and the smaller scripts."""
    cells = summary("scoring_speed")["cells"]
    ours = cells["unhack"]
    what = "sealed verdicts a second, two workers, HumanEval/0"
    figure = f"{span(ours['rate'])}; {span(ours['cpu_ms'], 2)} ms CPU each"
    rows = [Row(what, figure, "scoring_speed")]
    for name, cell in cells.items():
        if name == "unhack" or "error" in cell:
            continue
        ratio = cell["unhack_rate_ratio"]
        if name.startswith("unhack, "):
            turned = (("median", "median"), ("min", "max"), ("max", "min"))
            share = {key: 1 / ratio[other] for key, other in turned}
            what = f"rate of `{name.removeprefix('unhack, ')}` against the plain sealed one"
            rows.append(Row(what, span(share, 2), "scoring_speed"))
        else:
            what = f"against {name.replace('_', '-')} {cell['version']}"
            figure = f"{span(ratio, 1)}x the rate, {span(cell['unhack_cpu_ratio'], 1)}x less CPU"
            rows.append(Row(what, figure, "scoring_speed"))
    return rows + small_speeds()


def verl_speeds() -> list[Row]:
    """Concurrent rollouts in verl's reward loop, of both kinds."""
    found = summary("verl_batches")
    kinds = {"quick": "all quick", "hanging": "every eighth hangs until its limit of 5 s"}
    rows: list[Row] = []
    for kind, words in kinds.items():
        cell = found["cells"][kind]
        figure = f"{span(cell['batches'])} a second; {span(cell['ratio_single'], 1)}x single calls"
        figure += f", {span(cell['ratio_threads'], 1)}x verl's {found['threads']} threads"
        what = f"{found['rollouts']} rollouts at once in verl's reward loop, {words}"
        rows.append(Row(what, figure, "verl_batches"))
    return rows


def many_cores() -> list[Row]:
    """Verdicts by workers: shards, one host, bare forks; and what of a job scales worst."""
    by_cores = ("many_cores", "many_cores_32", "many_cores_64")
    told = [row for name in by_cores for row in scaled(name)]
    parts = [row for row in summary("many_cores_forks")["kernel"]["rows"] if "scaling" in row]
    worst = sorted(parts, key=lambda row: row["scaling"])[:3]
    names = ", ".join(f"{row['ingredient']} {row['scaling']:.1f}" for row in worst)
    plain = next(row for row in parts if row["ingredient"] == "nothing")
    figure = f"{names}; a bare fork {plain['scaling']:.1f}"
    told.append(Row("what scales worst from 1 to 15 forks with it", figure, "many_cores_forks"))
    return told


def scaled(name: str) -> list[Row]:
    """Sealed verdicts of the most workers of a record, by where they are judged."""
    found = summary(name)
    rows = {(row["mode"], row["workers"]): row for row in found["rows"]}
    many = max(workers for _, workers in rows)
    told: list[Row] = []
    modes = {
        "shards": "shards",
        "pinned": "shards, each fork server bound to a core",
        "local": "one host process",
    }
    for mode, words in modes.items():
        first, last = rows[mode, 1], rows[mode, many]
        figure = f"{span(last['rate'])} a second, {found['scaling'][mode]:.1f} times 1 worker's "
        figure += f"{first['rate']['median']:.0f}; {found['of_bare'][mode]:.2f} of the scaling of "
        figure += "bare forks (0.9 wanted)"
        if "of_placed" in found:
            figure += f", {found['of_placed'][mode]:.2f} of forks begun on their parent's core"
        told.append(Row(f"sealed verdicts of {many} workers, {words}", figure, name))
    return told


def ray_overhead() -> Row:
    """One batch here and on a Ray of the same machine."""
    found = summary("ray_overhead")
    pairs = ", ".join(f"{share:+.0f}" for share in found["overhead_percent"])
    loads = [row["load"] for rows in found["rows"].values() for row in rows]
    figure = f"{found['overhead_percent_median']:+.0f} % ({pairs}; at most +10 wanted) with "
    figure += f"{found['slots']} workers on cores loaded to {min(loads):.0f} to {max(loads):.0f}"
    what = f"time of {found['items']:,} completions on Ray against this process"
    return Row(what, figure, "ray_overhead")


def server_load() -> list[Row]:
    """A server over HTTP: a burst, single verdicts, the requests of an hour."""
    found = summary("server_load")
    burst, single = found["at_once"], found["single"]
    low, high = min(found["load"]), max(found["load"])
    beside = f"with client and server at a load of {low:.1f} to {high:.1f}"
    figure = f"{burst['wrong']} wrong, {burst['requests'] - burst['stored']} lost, "
    figure += f"{burst['double']} double; {burst['a_second']:.0f} a second {beside}"
    rows = [Row(f"{burst['requests']:,} requests in flight at a server", figure, "server_load")]
    cuts = "; ".join(
        f"{name} {cut['run_batch_ms']:.1f} and {cut['http_ms']:.1f} ms "
        f"(+{cut['added_ms']:.1f} ms, {cut['times']:.1f} times)"
        for name, cut in ((name, single[name]) for name in ("p50", "p99"))
    )
    cpu = f"CPU {single['run_batch_cpu_ms']:.1f} and {single['server_cpu_ms']:.1f} ms"
    what = f"one verdict by `run_batch` here and over HTTP, {single['pairs']} pairs in turn"
    rows.append(Row(what, f"{cuts}; {cpu}; {beside}", "server_load"))
    memory = found["memory_mb"]
    figure = f"{found['hour_requests'] / found['hour_seconds']:.0f} a second {beside}; "
    figure += f"{found['hour_server_cpu_ms']:.1f} ms of CPU each; server {max(memory):.0f} MB at "
    figure += f"most, {found['grown_mb']:+.1f} MB from the first quarter to the end"
    what = f"{found['hour_requests']:,} requests, as of an hour at "
    rows.append(Row(f"{what}{found['hour_requests'] / 3600:.0f} a second", figure, "server_load"))
    return rows


def small_speeds() -> list[Row]:
    """Start, stragglers, streams, forks."""
    cold, late = summary("cold_start"), summary("straggler")
    streams = summary("scaling")["rows"]
    rates = "; ".join(f"{row['items']:,}: {row['rate']:.0f}/s" for row in streams)
    last = streams[-1]
    memory = f"host {last['host_rss_mib']:.0f} MiB, "
    memory += f"worker {max(last['worker_pss_mib']):.0f} MiB PSS"
    forks = summary("fork_cost")["variants"]
    costs = "; ".join(f"{name}: {span(cell['cpu_ms'], 2)} ms" for name, cell in forks.items())
    later = f"{span(late['later_s'], 3)} s later (allowed {late['allowed_s']:.3f} s)"
    first = f"{span(cold['first_verdict_s'], 2)} s"
    return [
        *verl_speeds(),
        *many_cores(),
        ray_overhead(),
        *server_load(),
        Row("first verdict after a cold `import unhack`", first, "cold_start"),
        Row("15 honest verdicts beside one that loops", later, "straggler"),
        Row("items in one stream", f"{rates}; {memory}", "scaling"),
        Row("CPU of one forked job", costs, "fork_cost"),
    ]


def derivations() -> str:
    """Derivations by hand, at their first scoring and since, and drawn ones."""
    found = summary("derivations_checked")
    first, drawn = found["first_scoring"], found["drawn"]
    one, other, faults = first["set_1"], first["set_2"], drawn["faults"].values()
    words = f"{one['right']} right and {one['wrong']} wrong ones that were written before the "
    words += f"checker, {other['right']} and {other['wrong']} that were written to get around it, "
    words += f"at first scoring (since: {found['set_2_right']['as_labelled']} and "
    words += f"{found['set_2_wrong']['as_labelled']}); {drawn['respelled_passed']:,} of "
    words += f"{drawn['problems']:,} drawn ones pass in random spellings, "
    words += f"{sum(cell['at_the_line'] for cell in faults):,} of "
    return f"{words}{sum(cell['tried'] for cell in faults):,} faults are found at their line"


def correctness() -> list[Row]:
    """Comparisons, and their differences."""
    human, gym = summary("humaneval_fidelity"), summary("reasoning_gym")
    same = f"{human['canonical_passed']} of {human['problems']} canonical solutions pass; "
    same += f"{human['mutants_judged_the_same']:,} of {human['mutants']:,} mutants judged the "
    same += f"same, at least {human['fewest_wrong_mutants_of_a_problem']} wrong ones a problem"
    drawn = f"{gym['data_sets']} data sets, {gym['answers']:,} answers, "
    drawn += f"{gym['differences']} differences from `score_answer`"
    hostile = "mixed hostile jobs with random worker kills"
    suites = summary("repository_judging")
    found = suites["packages"]
    own = (
        f"{sum(one['reference'] == 'passed' for one in found)} of {len(found)} untouched packages "
    )
    own += f"pass, {sum(one['sealed'] for one in found):,} of their tests sealed and "
    own += f"{sum(one['beside_twins'] for one in found)} beside twins; {suites['same']} of "
    own += f"{suites['mutants']} mutants judged as by plain pytest"
    return [
        Row("HumanEval against its own harness", same, "humaneval_fidelity"),
        Row("reasoning-gym", drawn, "reasoning_gym"),
        Row("own suites of real packages", own, "repository_judging"),
        Row("derivations, line by line", derivations(), "derivations_checked"),
        Row(hostile, summary("soak")["summary"], "soak"),
    ]


def audits() -> list[Row]:
    """The planted corpus, through each tool, and released packages."""
    rows = [Row("audit of planted verifiers", summary("audit_quality")["summary"], "audit_quality")]
    learnt = summary("audit_discovery")["summary"]
    rows.append(Row("tier 5 of the audit, by itself", learnt, "audit_discovery"))
    fixed = summary("audit_fixes")
    text = f"{fixed['fixed']} of {fixed['hacks']} hacks in {fixed['verifiers']} planted verifiers "
    text += f"fixed, {fixed['right_completions_lost']} of {fixed['right_completions']} right "
    text += "completions lost"
    rows.append(Row("`--fix` of planted verifiers", text, "audit_fixes"))
    for column, cell in summary("audit_peers")["summary"]["all"].items():
        hacks, lenient, accused = (cell[key] for key in ("hacks", "false_accepts", "accused"))
        text = f"{hacks[0]} of {hacks[1]} hacks and {lenient[0]} of {lenient[1]} false accepts "
        text += "found, "
        text += f"{accused[0]} of {accused[1]} sound accused, {cell['no_verdict']} without a "
        text += f"verdict; {cell['median_s']:.1f} s (longest {cell['max_s']:.1f}), "
        text += f"CPU {audit_scores.cpu_of(cell)}"
        rows.append(Row(f"the same planted verifiers: {column}", text, "audit_peers"))
    real = summary("audit_real")
    counts = ", ".join(f"{count} {name}" for name, count in real["counts"].items())
    text = f"{real['run']} reward functions of released packages: {counts}"
    return [*rows, Row("audit of what others wrote", text, "audit_real")]


def workspaces() -> list[Row]:
    """Forks, steps, episodes, and a soak of them."""
    found, soak = summary("workspaces"), summary("episode_soak")
    fork = (
        f"{span(found['fork_ms'], 2)} ms CPU, a copy {span(found['copytree_over_fork'])} times that"
    )
    step = f"{span(found['step_above_bare_ms'], 2)} ms CPU above the bare command's "
    step += f"{span(found['bare_ms'], 2)}"
    rate = f"{span(found['episodes_s'], 1)} a second; {span(found['sealed_over_plain'], 1)} times "
    rate += "`copytree` and subprocesses, which seal nothing"
    for peer, times in found["sealed_over_peers"].items():
        rate += f", {span(times, 1)} times {peer.replace('_', '-')}'s local sandbox"
    left = sum(soak["left"].values())
    text = f"{soak['episodes']:,} episodes, 64 at once, {soak['hosts']} hosts killed or ended: "
    text += f"{soak['wrong']} wrong verdicts, {soak['twice']} twice, {soak['unscored']} unscored, "
    text += f"{left} things left"
    return [
        Row("fork of a workspace of 2,000 files, and one edit", fork, "workspaces"),
        Row("a command in a workspace of 2,000 files", step, "workspaces"),
        Row("episodes of `repos` (list, write, test, submit, judged)", rate, "workspaces"),
        Row("episodes while supervisors, workers and hosts are killed", text, "episode_soak"),
    ]


def environments() -> list[Row]:
    """The published repository tasks."""
    found = summary("repos_suite")
    killed, mutants = found["kill"]
    text = f"{found['sound']} of {found['tasks']} sound; {killed} of {mutants} mutants killed "
    text += f"({found['lowest_kill']:.0%} at least), {found['flaky_tests']} of {found['tests']} "
    text += f"tests flaky, {found['leaking_tasks']} tasks leak"
    wrong, right = found["wrong_patches_won"], found["right_patches_won"]
    patches = f"{wrong[0]} of {wrong[1]} wrong ones win, {right[0]} of {right[1]} right ones of "
    patches += "another shape do"
    solved = ", ".join(f"{rung} {count}" for rung, count in found["solved"].items())
    attacks = summary("environment_attacks")
    corpus = summary("corpus_reading")
    terminal, fresh = corpus["terminal"], corpus["first_scoring"]["fresh"]
    loose, low, high = terminal["form_only_or_told"]
    right, named, *_ = fresh["precision"]
    known = fresh["recall"][1]
    seen = f"{loose:,} of {terminal['tasks']:,} ({low:.1%} to {high:.1%}) where no test ties the "
    seen += f"reward to the work; on 20 labelled tasks {right} of {named} suspicions are right, "
    seen += f"{right} of {known} are found; nothing was run"
    won = ", ".join(
        f"{name.replace('_', ' ')} {cell['won']}" for name, cell in attacks["graders"].items()
    )
    played = f"{won}; unscored {sum(len(cell['unscored']) for cell in attacks['graders'].values())}"
    return [
        *workspaces(),
        Row(
            f"of {attacks['attacks']} attacks on graders of a repository, won",
            played,
            "environment_attacks",
        ),
        Row("public terminal tasks, read", seen, "corpus_reading"),
        Row("repository tasks `repos`", text, "repos_suite"),
        Row("patches against their hidden tests", patches, "repos_suite"),
        Row(f"cheap searches that solve, of {found['tasks']}", solved, "repos_suite"),
    ]


def tournaments() -> list[Row]:
    """Cheats, kills, and the contests on a GPU."""
    faults, kernels = summary("tournament_faults"), summary("tournament_gpu_kernels")
    kills = f"{faults['kills']} kills of {faults['tournaments']} tournaments "
    kills += f"({faults['contest']}): the records equal those of undisturbed ones"
    _, usual, most = kernels["aa_error"]
    controls = len(kernels["controls"])
    wrong = sum(not name.startswith("control ") for name in kernels["wrong"])
    others = kernels["judged"] - controls
    gpu = f"{others - wrong} of {others} honest kernels and cheats judged as they must be; "
    gpu += f"{kernels['cheats_flagged']} of {kernels['cheats_judged']} cheats flagged; "
    gpu += f"repeat error of {controls} controls {usual:.1%}, at most {most:.1%}; "
    gpu += f"{kernels['not_judged']} rows not judged"
    cheats = summary("tournament_corpus")["summary"]
    trained = summary("tournament_scaling")
    best = max(trained["ladder"], key=lambda row: row["mean"])
    scaled = f"{trained['cheats']} cheats and {trained['unusual']} unusual honest strategies: "
    scaled += f"{trained['judged_right']} judged as they must be; the best that ships reaches "
    scaled += f"{best['of_bound']:.2f} of the bound ({len(best['fitness'])} worlds)"
    room = summary("tournament_headroom")
    left = f"best that ships, of {len(room['strategies'])}: {room['best']} at "
    left += f"{room['of_bound']:.2f} of the bound"
    met = summary("tournament_attacks")
    attacks = f"best that ships, of {len(met['kinds']['shipped'])}: {met['best']} at "
    attacks += f"{met['of_oracle']:.2f} of the oracle, which has {met['oracle']:.2f}; at most "
    attacks += f"{met['trivial']:.2f} for a trivial entry and {met['most_of_a_cheat']:.2f} for "
    attacks += f"{met['cheats']} cheats, at least {met['least_of_an_unusual']:.2f} for "
    attacks += f"{met['unusual']} strong attackers that look odd"
    told = " ".join(f"{key}={value}" for key, value in met["options"].items())
    return [
        Row("cheats before the judge", cheats, "tournament_corpus"),
        Row(f"room of {' '.join(room['options'])}", left, "tournament_headroom"),
        Row(f"room of {told}", attacks, "tournament_attacks"),
        Row("scaling with trained runs", scaled, "tournament_scaling"),
        Row("tournaments that are killed", kills, "tournament_faults"),
        Row("GPU kernels before the judge", gpu, "tournament_gpu_kernels"),
    ]


def training() -> list[Row]:
    """The cost of training."""
    trl, cost = summary("train_throughput"), summary("train_routing_cost")
    steps = f"{trl['parameters'] / 1000:.0f}k parameters: "
    steps += span(trl["trl_over_unhack"], 2) + "x less CPU a step"
    routed = ", ".join(
        f"{row['kind']} {row['rollout']['to_plain'][1]:.2f}"
        for row in cost["rows"]
        if row["shape"].startswith("h64")
    )
    ranks = summary("train_data_parallel")
    one, two = ranks["runs"]
    same = f"{one['parameters'] / 1e6:.0f}M parameters: gradients differ by at most "
    same += f"{ranks['largest_relative_difference']:.1g} (allowed {ranks['tolerance']:.0e}); "
    same += f"{one['tokens_per_second']:,} and {two['tokens_per_second']:,} tokens/s; on one GPU "
    same += f"{one['of_bare']['median']:.2f} of a bare loop's"
    routed = f"routed step / plain step: {routed}"
    return [
        Row("GRPO steps against TRL", steps, "train_throughput"),
        Row("gradient routing, CPU time", routed, "train_routing_cost"),
        Row(f"2 x {one['on']} against 1", same, "train_data_parallel"),
        routed_steps(),
        leaks(),
        *fresh_leaks(),
        controlled(),
        inside_trl(),
        *turns(),
    ]


def matrix() -> list[Row]:
    """The registered claims about routing: how many hold, rates by arm, and how many runs."""
    rows: list[Row] = []
    for name, label in _MATRIX.items():
        found = summary(name)
        if found is None:
            continue
        claims = rows_of(found["claims"])
        held = [one for one in claims if one["supported"]]
        said = f"{len(held)} of {len(claims)} supported at {found['alpha']:g} after Holm: "
        said += ", ".join(" ".join(filter(None, (one.get("part"), one["claim"]))) for one in held)
        rows.append(Row(f"registered claims, {label}", said, name))
        cells: dict[str, list[str]] = {}
        for one in rows_of(found["arms"]):
            cell = f"{one['arm']} {one['held_out']:.2f} / {one['solve']:.2f}"
            cells.setdefault(one.get("part", ""), []).append(cell)
        for part, texts in cells.items():
            rows.append(Row(" ".join(filter(None, (label, part))), ", ".join(texts), name))
    counts = (counted(name) for name in matrix_runs.RECORDS if summary(name))
    return [*rows, *counts, untrained()]


def counted(name: str) -> Row:
    """How many of the planned runs are in a file of the record."""
    there = sum(
        len(items)
        for (part, _, _), items in matrix_runs.recorded().items()
        if part in matrix_runs.RECORDS[name]
    )
    wanted = sum(
        1
        for part in matrix_runs.RECORDS[name]
        for _ in matrix_runs.planned(part, rules_of("matrix")["without"])
    )
    said = f"{there} of {wanted} recorded; a set of claims is tested when all of its runs are there"
    return Row(f"runs of {', '.join(matrix_runs.RECORDS[name])}", said, name)


def untrained() -> Row:
    """What the base models of the matrix pass before training."""
    found = summary("train_bases")
    said = ", ".join(
        f"base {base}: {solved} solved, {found['hacked'][base]} hacked"
        for base, solved in found["solved"].items()
    )
    said = f"{said}, of {found['prompts']}; a control that passes less is not used"
    return Row("untrained base models of the matrix", said, "train_bases")


def routed_steps() -> Row:
    """What a step of the routed arms takes beside a plain one."""
    arms = {one["arm"]: one for one in rows_of(summary("train_matrix_cost")["arms"])}
    cells = [
        f"{label} {arms[arm]['whole_ratio']:.2f} (update alone {arms[arm]['update_ratio']:.2f})"
        for arm, label in {
            "real": "routed",
            "filter": "dropped",
            "wrong": "routed by wrong",
        }.items()
    ]
    said = f"step / plain step: {', '.join(cells)}; medians of {arms['filter']['runs']} to "
    said += f"{arms['vanilla']['runs']} runs"
    return Row("routing and dropping at 55M parameters", said, "train_matrix_cost")


def leaks() -> Row:
    """What the leak alarm told of runs that it was not fixed on."""
    found = summary("leak_alarm")["second"]
    false, clean = found["raised"] - found["hits"], found["runs"] - found["leaks"]
    said = (
        f"{found['hits']} of {found['leaks']} leaking runs told, {false} of {clean} others accused"
    )
    return Row("leak alarm, runs that it was not fixed on", said, "leak_alarm")


def fresh_leaks() -> list[Row]:
    """The same on runs of `real` alone, by size of the model and share of the gate."""
    rows: list[Row] = []
    for part in summary("leak_alarm_fresh")["parts"]:
        false, clean = part["raised"] - part["hits"], part["runs"] - part["leaks"]
        what = f"leak alarm, `real` at {part['millions']:g}M, share {part['share']:g}"
        said = f"{part['hits']} of {part['leaks']} leaks told, {false} of {clean} others accused"
        rows.append(Row(what, said, "leak_alarm_fresh"))
    return rows


def fresh_bases() -> tuple[list[float], int, int]:
    """Held-out hack rates of `real` with three tenths on small fresh base models, a mean
    for each; how many runs, and how many above the bound of a leak."""
    found = summary("leak_alarm_fresh")
    part = next(one for one in found["parts"] if (one["millions"], one["share"]) == (0.2, 0.3))
    rates: dict[str, list[float]] = {}
    for place, words in part["runs_by_base_and_seed"].items():
        own = rates.setdefault(place.partition("/")[0], [])
        own += [int(word.partition("/")[0]) / 1000 for word in words.split() if word != "-"]
    return [sum(own) / len(own) for own in rates.values()], part["runs"], part["leaks"]


def controlled() -> Row:
    """Training again where the alarm is raised at the end; and the alarm on those first runs."""
    found = summary("leak_controller")
    claims = {row["claim"]: row for row in found["claims"]}
    gained, kept = (
        claims[name]["gap"]
        for name in ("training again keeps hacks out", "training again costs no solve")
    )
    alarm = found["alarm"]
    false = alarm["raised"] - alarm["hits"]
    said = (
        f"held-out hacks {100 * gained:.1f} points fewer, solve {100 * kept:+.1f}, over "
        f"{claims['training again costs no solve']['units']} runs; {alarm['hits']} of "
        f"{alarm['leaks']} leaks told, {false} of {alarm['runs'] - alarm['leaks']} others accused"
    )
    return Row("training again where the leak alarm is raised at the end", said, "leak_controller")


def inside_trl() -> Row:
    """Held-out hacks and solutions of the deployed models of TRL's own trainer."""
    arms = summary("trl_routed")["deployed"]
    cells = [
        f"{arm} {found['held_out']['mean']:.2f} / {found['solve']['mean']:.2f} ({found['units']})"
        for arm, found in arms.items()
    ]
    said = f"held-out hack / solve (units): {', '.join(cells)}"
    return Row("gradient routing inside TRL, 0.1M parameters", said, "trl_routed")


def turns() -> list[Row]:
    """Episodes of several turns: what each plan fixed, and what it found."""
    rows: list[Row] = []
    for name in ("train_turns", "train_pumped"):
        found = summary(name)
        for what, test in found["tests"].items():
            said = f"{test['first']:.2f} against {test['second']:.2f}, "
            said += f"p {test['p']:.2g} over {test['pairs']} seeds"
            rows.append(Row(what, said, name))
    return rows


def deployed(name: str) -> dict[str, dict[str, Any]]:
    """By arm of an experiment: runs and rates of the deployed model."""
    return {row["arm"]: row for row in rows_of(summary(name)["arms"])}


def experiments() -> list[Row]:
    """Sweeps that carry a claim: held-out hack and solve of the deployed models."""
    rows: list[Row] = []
    for name, label in _EXPERIMENTS.items():
        arms = deployed(name)
        cells = [
            f"{arm} {arms[arm]['hack_held_out']:.2f} / {arms[arm]['solve']:.2f}" for arm in ARMS
        ]
        counts = [arms[arm]["runs"] for arm in ARMS]
        runs = " to ".join(str(count) for count in sorted({min(counts), max(counts)}))
        rows.append(Row(f"{label}; {runs} runs an arm", ", ".join(cells), name))
    return rows


def machine_of(name: str) -> str:
    """A record's machine, in words."""
    said = summary(name)["machine"]
    return said if isinstance(said, str) else host(said)


def shown(rows: list[Row]) -> str:
    """Rows as a Markdown table."""
    lines = ["| what | figure | machine | record |", "|---|---|---|---|"]
    for row in rows:
        place = f"[`{row.record}`](#records)"
        lines.append(f"| {row.what} | {row.figure} | {machine_of(row.record)} | {place} |")
    return "\n".join(lines)


def records() -> str:
    """The table of records: command, needs, full record."""
    lines = ["| record | made by | runs in | full record |", "|---|---|---|---|"]
    for record in RECORDS:
        full = summary(record.name).get("full_record")
        kept = f"{full['bytes']:,} bytes, sha256 `{full['sha256'][:16]}…`" if full else "the same"
        needs = f"by itself; needs {record.needs}" if record.needs else "`make bench`"
        lines.append(f"| `{record.name}` | `{record.command}` | {needs} | {kept} |")
    return "\n".join(lines)


def page() -> str:
    """The page's text."""
    sections = {
        "Speed": speed(),
        "Correctness": correctness(),
        "Audit": audits(),
        "Environments": environments(),
        "Tournament": tournaments(),
        "Training": training(),
    }
    parts = [_HEAD, *(f"\n## {name}\n\n{shown(rows)}\n" for name, rows in sections.items())]
    parts.append("\n## Routing\n" + _ROUTING.format(table=shown([*matrix(), *experiments()])))
    parts.append(_RECORDS.format(table=records()))
    return "".join(parts)
