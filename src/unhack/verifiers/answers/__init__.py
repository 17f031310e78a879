"""Final answers of texts: where they stand, and when two are equal."""
