"""`unhack score`."""
