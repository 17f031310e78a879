"""Rounds: seats, workspaces, turns, champions."""
