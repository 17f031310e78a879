"""Texts of submissions; only their files are used."""
