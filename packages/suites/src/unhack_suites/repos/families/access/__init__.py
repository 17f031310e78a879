"""The family `access`."""
