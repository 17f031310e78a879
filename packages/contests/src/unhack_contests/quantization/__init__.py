"""Quantization: compress a language model, measured in two sealed stages."""
