"""Attacks that are programs, one family a file."""
