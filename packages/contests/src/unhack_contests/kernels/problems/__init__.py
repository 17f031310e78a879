"""The kernels to write, one file each."""
