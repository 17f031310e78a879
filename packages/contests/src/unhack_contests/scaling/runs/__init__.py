"""Ladders of training runs: reading and building them."""
