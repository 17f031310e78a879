"""`unhack tournament`."""
