"""The family `formula`."""
