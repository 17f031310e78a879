"""Attacks made from the prompt and the form alone: each payload means the same on every problem."""
