"""Strategies: programs from a prompt to a completion, measured by what a policy would be
rewarded."""
