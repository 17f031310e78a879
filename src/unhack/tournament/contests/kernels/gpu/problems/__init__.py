"""The problems of the contest on a GPU."""
