"""The world `programs`: short Python programs on digit lists, judged in the sealed sandbox.

A model of 0.1M parameters learns it from nothing in minutes on a CPU, and its loopholes are real
Python exploits. See docs/reference/programs-world.md.
"""
