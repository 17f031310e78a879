"""The record of a run: folder, checkpoints, step records, loggers, alarms."""
