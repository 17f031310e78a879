"""From sources to what a sealed process loads."""
