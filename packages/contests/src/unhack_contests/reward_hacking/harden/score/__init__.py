"""Scores of the two roles."""
