"""Harbor tasks read, not run: what the statement asks and the tests do not show."""
