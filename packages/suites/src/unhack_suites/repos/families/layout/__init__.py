"""The family `layout`."""
