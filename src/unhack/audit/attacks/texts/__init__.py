"""Attacks that are texts, one family a file."""
