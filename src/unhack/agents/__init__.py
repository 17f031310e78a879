"""Agents: command lines in sealed workspaces, models behind a proxy, what both may cost."""
