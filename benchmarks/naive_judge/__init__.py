"""A judge without defences, for comparison: what a tournament looks like when claims count."""
