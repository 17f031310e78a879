"""The same judge for accelerators: Triton and CUDA against eager PyTorch, over CUDA IPC buffers."""
