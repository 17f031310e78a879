"""The family `merge`."""
