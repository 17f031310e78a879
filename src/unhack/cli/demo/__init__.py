"""`unhack demo`."""
