"""Event streams of command-line agents, one file a format."""
