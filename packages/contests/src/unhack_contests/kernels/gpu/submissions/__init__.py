"""Submissions as data: cheats with the flag that they must get, and unusual honest kernels."""
