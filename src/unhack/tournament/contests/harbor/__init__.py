"""Harbor folders as a contest."""
