"""Judging again: replays, and submissions without their trick."""
