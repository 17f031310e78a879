"""Static analysis of a verifier's source: suspicions, each with its line."""
