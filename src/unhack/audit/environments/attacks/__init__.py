"""The attacks, by what they go through."""
