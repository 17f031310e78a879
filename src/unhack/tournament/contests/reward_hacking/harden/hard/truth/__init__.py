"""What answers mean and when results are right; standard library only."""
