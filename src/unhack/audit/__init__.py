"""Audit: prove that a verifier can be gamed, or say what was tried in vain."""
