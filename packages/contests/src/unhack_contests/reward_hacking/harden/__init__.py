"""Patches of leaky verifiers, and attacks on them."""
