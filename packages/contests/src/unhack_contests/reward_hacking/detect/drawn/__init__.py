"""Detection with room at the top: problems, programs and shortcuts drawn per measurement."""
