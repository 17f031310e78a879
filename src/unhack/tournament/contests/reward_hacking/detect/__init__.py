"""Detection of hacked submissions."""
