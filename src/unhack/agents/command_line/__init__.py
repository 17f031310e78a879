"""Running a command-line agent."""
