"""Harden at the hard level: generated verifiers whose leaks no stock recipe closes."""
