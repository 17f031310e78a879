"""Reward hacking, in three contests: find exploits, close them, tell them from honest work.

    load({"track": "exploit_design"})   rewards that look right and are wrong once optimised
    load({"track": "harden"})           patches of leaky verifiers, or attacks on them
    load({"track": "detect"})           honest or hacked, told from the submission

Covered: the choice of a track and of its options.
Not covered: what a track measures; each has its room.
"""

from __future__ import annotations

import importlib

from unhack.tournament.kit import Contest, UnknownNameError

TRACKS = ("exploit_design", "harden", "detect")


def load(options: dict[str, str]) -> Contest:
    """The contest of one track (`track`, else exploit_design); the other options are the track's.

    Raises UnknownNameError for another track, UsageError for an option that the track lacks.
    """
    track = options.get("track", TRACKS[0])
    if track not in TRACKS:
        raise UnknownNameError("track", track, valid=TRACKS)
    module = importlib.import_module(f"unhack_contests.reward_hacking.{track}.contest")
    return module.load({name: value for name, value in options.items() if name != "track"})
