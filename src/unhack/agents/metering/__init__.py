"""Metering of language models: prices, and a limit that holds under parallel requests."""
