"""The family `codec`."""
