"""The layers that this host offers, tried for real."""
