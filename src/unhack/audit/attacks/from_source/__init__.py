"""Attacks made from the verifier's own source."""
