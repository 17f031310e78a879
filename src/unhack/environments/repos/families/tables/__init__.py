"""The family `tables`."""
