"""Gradient routing: directions, gates, the split of a gradient over two blocks."""
