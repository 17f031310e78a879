"""A chat model that acts through tools, turn by turn."""
