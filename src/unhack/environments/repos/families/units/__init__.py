"""The family `units`."""
