"""The family `letters`."""
