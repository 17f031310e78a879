"""Readers: Python, C, constants, hidden texts."""
