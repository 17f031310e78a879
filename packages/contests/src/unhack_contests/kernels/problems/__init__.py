"""The kernels to write."""
