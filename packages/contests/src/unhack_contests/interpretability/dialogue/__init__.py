"""The dialogue between a submission and the judge's experiment service."""
