"""Kernels: programs that compute the same thing in less time."""
