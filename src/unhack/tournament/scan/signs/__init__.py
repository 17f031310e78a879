"""Signs of a cheat, one file each."""
