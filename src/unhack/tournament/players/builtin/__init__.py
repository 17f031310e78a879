"""Agents that need no model: controls, strategies, a search."""
