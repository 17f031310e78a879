"""Models with known circuits."""
