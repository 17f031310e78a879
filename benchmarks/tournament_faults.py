"""Kill a tournament again and again, resume it, and compare it with one that nobody disturbed.

Each life of the tournament is a process that ends by SIGKILL: half of them after a random time,
half at a random write (fsync, rename) of the run folder. When a tournament ends before all kills
are spent, the next one begins with the next seed. Checked after every kill and at the end:

  - the log's hash chain and the database tell one story;
  - what was committed stays as it was, and no step of it is stored twice;
  - every cent that an agent paid, in attempts that were cut off too, is in the record;
  - the canonical records equal those of an undisturbed run with the same seed.

The contest is a toy that takes milliseconds, so that kills fall into every step; with `--contest`
it is a real one, played by `unhack tournament run` and `resume`, each life killed at a random time.

    python benchmarks/tournament_faults.py --kills 200
    python benchmarks/tournament_faults.py --kills 20 --contest quantization --rounds 2 --pace 15
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure import save
from tournament_toy import Hill, maker
from unhack.core.errors import UsageError
from unhack.store.ledger import Ledger
from unhack.tournament.record.archive import Archive, read_record
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import TournamentRecord
from unhack.tournament.record.settings import TournamentPlan
from unhack.tournament.review.canonical import canonical_entry, canonical_hash
from unhack.tournament.round.rounds import begin, line_up, play, reopen

AGENTS = ("search", "cheater", "baseline:left", "spender")
HILL = Hill(slow_s=0.002)
STEP_S = 0.002
REAL_AGENTS = {
    "quantization": ("baseline:rtn4", "baseline:gptq3", "cheater:hardcoded_size"),
    "interp": ("baseline:single", "cheater:typed_numbers"),
    "scaling": ("baseline", "cheater"),
}
OPTIONS = {"quantization": ("--option", "size=demo")}
MAX_LIVES = 20
"""Lives that a tournament may have for each kill before the test gives up."""


def live(folder: Path, *, seed: int, rounds: int, seeding: str, contest: str = "") -> None:
    """Begin or go on, to the end."""
    if contest:
        real_life(folder, None, seed=seed, rounds=rounds, seeding=seeding, contest=contest)
        return
    make = maker(HILL, folder.with_suffix(".book"), step_s=STEP_S)
    plan = TournamentPlan(HILL.name, AGENTS, rounds, impossible=1, seeding=seeding)
    try:
        archive = reopen(folder)
    except UsageError:  # killed before anything was begun
        archive = begin(folder, plan, HILL, seed=seed)
    with archive:
        play(line_up(archive, HILL, make=make), jobs=2)


def die_at_write(count: int) -> None:
    """From here on the `count`-th fsync or rename of this process kills it, before or after."""
    left, lock = [count], threading.Lock()
    syncing, renaming = os.fsync, os.replace

    def strike(work, *arguments):
        with lock:
            left[0] -= 1
            now = left[0] == 0
        if now and count % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        work(*arguments)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)

    os.fsync = lambda handle: strike(syncing, handle)
    os.replace = lambda old, new: strike(renaming, old, new)


def real_life(
    folder: Path, moment: float | None, *, seed: int, rounds: int, seeding: str, contest: str
) -> bool:
    """One command that plays a real contest; whether it was killed, `moment` seconds after its
    start. Raises RuntimeError when it failed."""
    unhack = [str(Path(sys.executable).with_name("unhack")), "tournament"]
    command = [*unhack, "resume", str(folder)]
    if not is_begun(folder):
        command = [*unhack, "run", contest, "--out", str(folder), "--seed", str(seed)]
        command += ["--rounds", str(rounds), "--seeding", seeding, *OPTIONS.get(contest, ())]
        command += [part for agent in REAL_AGENTS[contest] for part in ("--agent", agent)]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            code = child.wait(moment)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            return True
        if code:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}: {said.read()[-2000:].decode()}")
    return False


def is_begun(folder: Path) -> bool:
    """Whether there is a tournament to go on with."""
    try:
        read_record(folder)
    except UsageError:
        return False
    return True


def one_life(folder: Path, draw: random.Random, *, pace_s: float, **terms: object) -> bool:
    """One process; whether it was killed. Raises RuntimeError when it failed."""
    if terms.get("contest"):
        return real_life(folder, draw.uniform(0.0, 2 * pace_s), **terms)
    at_write = draw.random() < 0.5
    moment = draw.uniform(0.0, 2 * pace_s)
    write = draw.randint(1, 40)
    child = os.fork()
    if not child:
        code = 1
        try:
            if at_write:
                die_at_write(write)
            live(folder, **terms)
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    if not at_write:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"a life failed in {folder}")
    return False


def committed(folder: Path) -> dict[str, str]:
    """What is committed, by place. Raises StoreError where log and database disagree."""
    try:
        read_record(folder)
    except UsageError:
        return {}
    with Ledger(folder, read_only=True) as opened:
        entries = Archive(opened).entries()
        told = Counter(
            (event.kind, event.data["round"], event.data["agent"])
            for event in opened.events
            if event.kind.startswith("entry.") and event.kind != "entry.running"
        )
    twice = [step for step, count in told.items() if count != 1]
    assert not twice, f"stored twice: {twice}"
    # A mark of lineage may come later; everything else of a committed entry is final.
    return {
        f"{entry.round}/{entry.agent}": json.dumps(
            {**canonical_entry(entry, timed=False), "tainted": None}, sort_keys=True
        )
        for entry in entries
        if entry.state is EntryState.COMMITTED
    }


def disturbed(
    folder: Path, draw: random.Random, *, kills: int, pace_s: float, **terms: object
) -> tuple[TournamentRecord, int]:
    """A tournament with up to `kills` kills, and how many it had."""
    done, lives, before = 0, 0, {}
    while True:
        lives += 1
        assert lives <= MAX_LIVES * (kills + 1), "it does not get on"
        if done == kills:
            live(folder, **terms)
            killed = False
        else:
            killed = one_life(folder, draw, pace_s=pace_s, **terms)
        after = committed(folder)
        changed = [place for place, entry in before.items() if after.get(place) != entry]
        assert not changed, f"changed after it was committed: {changed}"
        before = after
        if not killed:
            return read_record(folder), done
        done += 1


def paid(folder: Path, record: TournamentRecord) -> tuple[int, int]:
    """Cents in the agent's own book, and in the record."""
    told = sum(entry.usage.cost_usd for entry in record.entries)
    book = folder.with_suffix(".book")
    return book.stat().st_size if book.exists() else 0, round(100 * told)


def main() -> int:
    """Disturbed and undisturbed tournaments, in pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pace", type=float, default=0.15, help="mean seconds of a timed life")
    parser.add_argument("--contest", default="", choices=sorted(REAL_AGENTS), help="a real one")
    parser.add_argument("--save", action="store_true", help="write results/tournament_faults*.json")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    left, tournaments, attempts, lost = options.kills, 0, 0, 0
    top = Path(tempfile.mkdtemp(prefix="unhack-faults-"))
    while left > 0:
        seed = options.seed + tournaments
        seeding = ("champion", "own_best", "none")[tournaments % 3]
        terms = {"seed": seed, "rounds": options.rounds, "seeding": seeding}
        terms |= {"contest": options.contest} if options.contest else {}
        calm = top / f"{tournaments}-calm"
        live(calm, **terms)
        rough = top / f"{tournaments}-rough"
        record, done = disturbed(rough, draw, kills=left, pace_s=options.pace, **terms)
        same = canonical_hash(record) == canonical_hash(read_record(calm))
        book, told = paid(rough, record)
        extra = sum(entry.attempts - 1 for entry in record.entries)
        print(
            f"seed {seed}, {seeding}: {done} kills, {extra} attempts begun again, "
            f"{book} cents paid, {told} recorded, canonical records "
            f"{'equal' if same else 'DIFFER'}",
            flush=True,
        )
        # A note may be on disk although the kill came before the payment: never the other way.
        assert same, rough
        assert book <= told <= book + extra, rough
        left, tournaments = left - done, tournaments + 1
        attempts, lost = attempts + extra, lost + max(0, book - told)
    shutil.rmtree(top)
    figures = {"kills": options.kills, "tournaments": tournaments, "rounds": options.rounds}
    figures |= {"contest": options.contest or HILL.name}
    figures |= {"attempts_begun_again": attempts, "cents_lost": lost, "records_equal": True}
    print(json.dumps(figures))
    if options.save:
        command = " ".join(["python", "benchmarks/tournament_faults.py", *sys.argv[1:]])
        name = f"tournament_faults_{options.contest}" if options.contest else "tournament_faults"
        save(name, command, figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
