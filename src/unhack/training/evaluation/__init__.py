"""Measurements of a policy: rates by mode, curves, statistics."""
