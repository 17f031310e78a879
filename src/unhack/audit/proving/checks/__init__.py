"""Checks of properties other than soundness."""
