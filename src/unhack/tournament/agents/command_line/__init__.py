"""Running a command-line agent in a seat."""
