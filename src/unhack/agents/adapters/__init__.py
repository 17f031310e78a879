"""Command-line agents, one file each."""
