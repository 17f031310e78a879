"""Clients of language models: where one is, what it says, and a model asked within a cap."""
