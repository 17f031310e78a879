"""`unhack train`."""
