"""Players: what chooses the actions of episodes."""
