"""Checks of a submission: its behaviour and its size."""
