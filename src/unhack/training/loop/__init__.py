"""The training loop and its steps."""
