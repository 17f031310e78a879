"""Policies: models that sample completions and score them."""
