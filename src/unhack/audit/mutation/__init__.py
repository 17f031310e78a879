"""Mutants of a reference."""
