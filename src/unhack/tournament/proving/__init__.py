"""Contests of one's own, proved before they are played."""
