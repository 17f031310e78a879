"""`--fix`: a hardened copy of a verifier."""
