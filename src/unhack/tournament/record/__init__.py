"""The record of a tournament: settings, entries, standings."""
