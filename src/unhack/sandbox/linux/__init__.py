"""The kernel's mechanisms, one a file, without knowledge of jobs."""
