"""The family `cache`."""
