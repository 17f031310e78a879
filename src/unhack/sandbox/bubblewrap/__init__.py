"""The second backend: one bubblewrap process for each job."""
