"""Fixes at the line at fault, as an author would make them."""
