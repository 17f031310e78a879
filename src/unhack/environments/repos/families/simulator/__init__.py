"""The family `simulator`."""
