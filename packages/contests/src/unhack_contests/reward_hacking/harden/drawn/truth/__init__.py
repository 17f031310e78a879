"""The meaning of answers, and of results; standard library only."""
