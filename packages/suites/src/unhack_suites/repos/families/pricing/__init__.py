"""The family `pricing`."""
