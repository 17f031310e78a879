"""Reports of episodes."""
