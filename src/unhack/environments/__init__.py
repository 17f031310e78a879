"""Multi-turn worlds: an agent acts in a sealed workspace, every step is judged."""
