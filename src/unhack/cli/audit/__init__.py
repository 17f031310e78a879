"""`unhack audit`."""
