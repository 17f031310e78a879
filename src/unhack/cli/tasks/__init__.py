"""`unhack tasks`."""
