"""The code inside sealed processes: the author's side and the submission's."""
