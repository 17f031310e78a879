"""Lines of a derivation as they are written, read as relations between expressions."""
