"""Checks that a task passes before anybody trains on it."""
