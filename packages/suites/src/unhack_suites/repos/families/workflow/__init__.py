"""The family `workflow`."""
