"""What is audited: functions, scripts and tasks as they are, loaded and called."""
