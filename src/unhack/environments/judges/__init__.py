"""Judges of folders that bring a grader of their own."""
