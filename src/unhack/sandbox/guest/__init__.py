"""Code that runs inside the sandbox, one folder for each trust zone."""
