"""`unhack doctor`."""
