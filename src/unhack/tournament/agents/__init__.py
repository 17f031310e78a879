"""Who competes: command-line agents, and embedded ones that need no key."""
