"""Judges of steps: scores of states along an episode, kept apart from the outcome."""
