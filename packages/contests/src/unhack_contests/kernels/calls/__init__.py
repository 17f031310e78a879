"""Calls of kernels: inputs, buffers, clocks, outputs."""
