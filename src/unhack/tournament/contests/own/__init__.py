"""Contests in folders of their own: read, proved, measured."""
