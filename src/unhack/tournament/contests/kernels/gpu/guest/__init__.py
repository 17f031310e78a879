"""What runs inside a sealed process with a card: it is shown there, and nothing else of ours."""
