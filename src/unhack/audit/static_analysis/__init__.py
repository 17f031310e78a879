"""What a verifier's source suggests: where to aim, which line to blame."""
