"""Code that runs inside the sealed processes of a submission: nothing else of ours is there."""
