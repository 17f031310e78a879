"""The model that submissions compress, of the package or from disk."""
