"""The competitors: command-line agents, and embedded ones that need no key."""
