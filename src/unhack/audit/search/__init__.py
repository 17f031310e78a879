"""Tier 3: search with scores alone."""
