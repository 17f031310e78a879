"""Reasoning steps: problems with known derivations, and a checker that reads them line by line."""
