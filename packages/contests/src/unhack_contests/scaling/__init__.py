"""Scaling: predict the losses of large training runs from small ones, and say how surely."""
