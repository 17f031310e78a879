"""Claims about a sealed process with a card, each put to the test on the card of this host."""
