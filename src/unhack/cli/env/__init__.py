"""`unhack env`."""
