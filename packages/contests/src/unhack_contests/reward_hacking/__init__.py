"""Reward hacking, in three contests: exploit_design, harden, detect."""
