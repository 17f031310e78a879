"""Families of packages, each with its templates, words, features and cases."""
