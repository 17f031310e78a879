"""Subjects of an audit: functions, scripts and tasks as they are, loaded and called."""
