"""Tier 5 of the audit: train a small policy against a verifier and see what it converges on."""
