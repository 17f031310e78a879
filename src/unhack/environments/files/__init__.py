"""The file tools of agents, in the host and without a process."""
