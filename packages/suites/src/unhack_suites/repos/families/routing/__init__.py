"""The family `routing`."""
