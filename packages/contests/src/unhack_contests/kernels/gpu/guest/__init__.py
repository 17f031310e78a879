"""Code that runs inside a sealed process with a card: nothing else of ours is shown there."""
