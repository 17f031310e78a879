"""Programs of the tasks that have several right results: honest ones and hacks."""
