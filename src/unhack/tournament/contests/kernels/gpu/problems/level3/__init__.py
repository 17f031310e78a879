"""Attention and small models."""
