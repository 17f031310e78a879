"""Rounds: participants, workspaces, turns, champions."""
