"""Players of a tournament: embedded ones, and command-line agents."""
