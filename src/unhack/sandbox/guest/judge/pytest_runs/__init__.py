"""Suites of tests that pytest runs in the judge."""
