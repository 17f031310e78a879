"""The process tree and the files of an agent."""
