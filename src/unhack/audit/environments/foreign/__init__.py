"""Graders of other people, run as they are: in one container with the agent."""
