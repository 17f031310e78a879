"""A card for one sealed tree of processes: its nodes and libraries, a queue, and limits."""
