"""The dialogue between a submission and the judge's laboratory."""
